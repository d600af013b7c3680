package runner

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changed is called when the command has been stopped or continued.
func (r *run) changed(e event) {
	r.halted = e.code == cldStopped
	if r.halted && r.stop == nil {
		r.halted = r.stopped(syscall.Signal(e.status))
	}
}

// stopped decides what a stop of the command means, and reports whether it is still stopped.
//
//   - It wants the terminal, which this process's group has: it gets it.
//   - The stop came through this process or from the terminal: the whole job is
//     to stop, as the shell expects.
//   - Somebody else has stopped it, and may continue it any time without our
//     knowing: the lock stays its own.
func (r *run) stopped(sig syscall.Signal) bool {
	foreground := r.term.foreground()
	mine, its := isMine(foreground), foreground == r.child.pid
	wants := foreground != 0 && (sig == unix.SIGTTIN || sig == unix.SIGTTOU)
	switch {
	case wants && mine && r.asked != sig:
		if err := r.term.give(r.child.pid); err != nil {
			r.warn(err)
		}
		r.toGroup(unix.SIGCONT)
	case wants || mine || its || r.asked != 0:
		r.park(sig, its)
	default:
		return true
	}
	return false
}

// forwardStop passes a stop on. A command that is already stopped will not stop
// again, so this process has to see to the rest at once.
func (r *run) forwardStop(sig syscall.Signal) {
	if r.halted {
		r.park(sig, false)
		r.halted = false
		return
	}
	r.asked = sig
	r.toGroup(sig)
}

// park stops this process as the command was, and continues both: between the
// two the lock may have lapsed, so it is asked for before the command goes on.
func (r *run) park(sig syscall.Signal, hadTerminal bool) {
	if hadTerminal {
		r.term.reclaim(r.child.pid)
	}
	if r.Parked != nil {
		r.Parked()
	}
	r.Guard.park()
	Suspend(sig)
	r.awaitCont()
	err := r.resumed()
	r.Guard.unpark()
	r.asked = 0
	if err != nil {
		r.halt(stopOf(err))
		return
	}
	if hadTerminal && isMine(r.term.foreground()) {
		_ = r.term.give(r.child.pid) // else it asks for it, as at its start
	}
	r.toGroup(unix.SIGCONT)
}

func (r *run) resumed() error {
	if r.Resumed == nil {
		return nil
	}
	return r.Resumed()
}

// contWait is how long after a stop SIGCONT is waited for. It has been
// delivered already if there was a stop. There is none for PID 1 and in an orphaned process
// group (setpgid(2)); the command, which has a parent in its session, stops even
// there, and is then continued after this pause.
const contWait = 100 * time.Millisecond

func (r *run) awaitCont() {
	timeout := time.NewTimer(contWait)
	defer timeout.Stop()
	for {
		select {
		case sig := <-r.signals:
			if sig == os.Signal(unix.SIGCONT) {
				return
			}
			r.forwardParked(sig)
		case <-timeout.C:
			return
		}
	}
}

// forwardParked is forward for a command that is stopped and whose stop is
// being dealt with: another stop means nothing to it.
func (r *run) forwardParked(sig os.Signal) {
	switch sig {
	case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
	default:
		r.forward(sig)
	}
}
