package runner

import (
	"runtime"
	"syscall"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// suspend stops this process as sig, a stop signal of the terminal, would have without the
// subscription, and with group the whole process group. Where the kernel does not stop a process
// (PID 1, an orphaned process group) nothing happens. SIGSTOP, which would stop even these, is
// replaced by SIGTSTP.
//
// One system call stops a group, because otherwise a fast sender of SIGCONT could continue it
// before all of it stands still. So the stop may come a moment after suspend has returned: until
// resume is called sig keeps its default action.
func suspend(sig syscall.Signal, group bool) (resume func()) {
	if sig == unix.SIGSTOP {
		sig = unix.SIGTSTP
	}
	resume = relay.UseDefault(sig)
	if group {
		_ = unix.Kill(0, sig)
		return resume
	}
	// The thread sends the signal to itself, so it is stopped before tgkill returns.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
	return resume
}
