package runner

import (
	"runtime"
	"syscall"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// Reraise ends this process by SIGINT if SIGINT ended the command, this process is not PID 1 and
// there is a controlling terminal. So a loop in a shell stops. Otherwise it returns, and Code is
// the exit status.
//
// If the command had the terminal, Ctrl-C did not reach the rest of this process's group. These
// processes get the signal now, as they would have without redlockrun.
func (s Status) Reraise() {
	if s.Signal == unix.SIGINT {
		endBySIGINT(s.HadTerminal)
	}
}

// Reraise does the same if SIGINT came before the command.
func (e *SignalError) Reraise() {
	if e.Signal == unix.SIGINT {
		endBySIGINT(false)
	}
}

func endBySIGINT(group bool) {
	if unix.Getpid() == 1 || !(terminal{}).exists() {
		return
	}
	runtime.LockOSThread()
	restore := relay.UseDefault(unix.SIGINT)
	if group {
		_ = syscall.Kill(0, unix.SIGINT)
	}
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGINT)
	restore() // still here: SIGINT is ignored or blocked
}
