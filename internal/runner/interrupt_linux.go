package runner

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reraise ends this process by SIGINT if SIGINT ended the command, this process
// is not PID 1 and there is a controlling terminal: so that a loop in a shell stops.
// In every other case it returns, and Code is the exit status.
//
// If the command had the terminal to itself, Ctrl-C reached nobody else of
// this process's group. They get the signal now, as they would have without redlockrun.
func (s Status) Reraise() {
	if s.Signal != unix.SIGINT || unix.Getpid() == 1 || (terminal{}).foreground() == 0 {
		return
	}
	runtime.LockOSThread()
	restore := defaultAction(unix.SIGINT)
	target := unix.Getpid()
	if s.hadTerminal {
		target = 0
	}
	_ = syscall.Kill(target, unix.SIGINT)
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGINT)
	restore() // still here: SIGINT is ignored or blocked
}
