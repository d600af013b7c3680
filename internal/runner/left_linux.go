package runner

import (
	"os"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// dyingLimit is how long the rest of a group is watched. After a signal to the whole group, some
// members die a moment later than the leader.
const dyingLimit = 50 * time.Millisecond

// countLeft counts the processes that the command leaves running. It waits up to limit for those
// that are about to die. As PID 1 there are none, because they end with PID 1.
func countLeft(group int, limit time.Duration) int {
	if os.Getpid() == 1 || countLiving(group) == 0 {
		return 0
	}
	tick := time.NewTicker(dyingLimit / 10)
	defer tick.Stop()
	for end := boottime.Now().Add(limit); countLiving(group) > 0 && boottime.Until(end) > 0; {
		<-tick.C
	}
	return countHiddenToo(group)
}

// Bearing returns the running processes with an entry such as NAME=VALUE in their environment, as
// far as this process may read it.
func Bearing(entry string) []int { return guard.Bearing(entry) }

// countLiving counts the processes of a group that still run. Nearly always there are none, which
// one system call shows.
func countLiving(group int) int {
	if unix.Kill(-group, 0) == unix.ESRCH {
		return 0
	}
	return guard.Living(group)
}

// countHiddenToo is countLiving with the processes that /proc hides.
func countHiddenToo(group int) int {
	if unix.Kill(-group, 0) == unix.ESRCH {
		return 0
	}
	c := guard.Look(group)
	if c.Unseen == 0 && !procHides() {
		return c.Living()
	}
	return c.Running + c.Stopped + guard.Hidden(group)
}

// restLives reports whether a leader that has ended, and is not reaped, left others in its group.
// kill(2) cannot tell: the leader is a member, too.
func restLives(leader int) bool {
	switch c := guard.Look(leader); {
	case c.Running+c.Stopped > 0, c.Dead > 0 && c.Unseen > 0:
		return true
	case c.Dead > 1: // hasCompany would be true for these
		return false
	}
	return hasCompany(leader)
}

// hasCompany reports whether the dead leader's group has other members, visible or not. It makes
// the leader the least favoured process, and then asks for the most favoured process of the group
// (getpriority(2)). It misses hidden members that are as little favoured.
func hasCompany(leader int) bool {
	const least, leastRaw = 19, 1 // as setpriority(2) takes it, and as the kernel returns it
	if unix.Setpriority(unix.PRIO_PROCESS, leader, least) != nil {
		return false
	}
	most, err := unix.Getpriority(unix.PRIO_PGRP, leader)
	return err == nil && most > leastRaw
}
