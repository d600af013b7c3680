package runner

import (
	"os"

	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// countLeft counts what the command leaves running: nothing that PID 1 leaves, as it ends
// with PID 1.
func countLeft(group int) int {
	if os.Getpid() == 1 {
		return 0
	}
	return countLiving(group)
}

// Bearing is the processes that still run, and have an entry such as NAME=VALUE in their
// environment that this process may read.
func Bearing(entry string) []int { return guard.Bearing(entry) }

// countLiving counts the processes of a group that still run. Nearly always there
// are none, which one system call shows.
func countLiving(group int) int {
	if unix.Kill(-group, 0) == unix.ESRCH {
		return 0
	}
	return guard.Living(group)
}
