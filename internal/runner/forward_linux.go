package runner

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// forward passes a signal on: what a terminal or a supervisor sends to a whole
// job goes to the group, everything else to the command alone.
func (r *run) forward(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	switch s {
	case unix.SIGPIPE, unix.SIGXFSZ: // of this process's own writes
	case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		r.forwardStop(s)
	case unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGWINCH:
		r.toGroup(s)
	case unix.SIGCONT:
		r.asked = 0
		r.toGroup(s)
	default:
		r.report(s, unix.Kill(r.child.pid, s))
	}
}

func (r *run) toGroup(sig syscall.Signal) { r.report(sig, unix.Kill(-r.child.pid, sig)) }

// report warns, once, of a signal that did not arrive. That nobody is left to
// get it is no news.
func (r *run) report(sig syscall.Signal, err error) {
	if err == nil || err == unix.ESRCH || r.refused {
		return
	}
	r.refused = true
	r.warn(fmt.Errorf("send signal %d (%v) to process %d: %w", int(sig), sig, r.child.pid, err))
}
