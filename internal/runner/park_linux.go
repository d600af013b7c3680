package runner

import (
	"errors"
	"os"
	"syscall"
	"time"

	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// onChange is called when the command has been stopped or continued.
func (r *run) onChange(e event) {
	if r.standing != nil {
		r.onStandingChange(e)
		return
	}
	// A command that was continued meanwhile was stopped by this process, or by the sender of
	// SIGCONT.
	switch r.isStopped = e.code == cldStopped && !guard.Runs(r.child.pid); {
	case r.isStopped && r.stop == nil:
		r.isStopped = r.onStop(syscall.Signal(e.status))
	case r.isStopped: // its grace period runs, and it cannot use that while stopped
		r.toGroup(unix.SIGCONT)
	}
}

// onStop decides what a stop of the command means, and reports whether it is still stopped.
//
//   - It wants the terminal, which this process's group has: it gets it.
//   - The stop came through this process or from the terminal: the whole job must stop, as the
//     shell expects. In a script without job control the job is more than this process. A stop
//     that the terminal did not send to those others is passed on to them.
//   - Another process stopped it, and may continue it at any time without notice: the run keeps
//     the lock.
func (r *run) onStop(sig syscall.Signal) bool {
	foreground := r.term.foreground()
	mine, its := isMine(foreground), foreground == r.child.pid
	wants := foreground != 0 && (sig == unix.SIGTTIN || sig == unix.SIGTTOU)
	switch {
	case wants && mine && r.forwarded != sig:
		if err := r.term.give(r.child.pid); err != nil {
			r.warn(err)
		}
		r.toGroup(unix.SIGCONT)
	case wants || mine || its || r.forwarded != 0:
		r.park(suspension{sig: sig, hadTerminal: its, group: mine || its || r.forwarded == 0})
	default:
		return true
	}
	return false
}

// forwardStop passes a stop on. The kernel does not report a stop of a leader that is already
// stopped, so this process handles the rest at once.
func (r *run) forwardStop(sig syscall.Signal) {
	if r.isStopped {
		r.park(suspension{sig: sig})
		r.isStopped = false
		return
	}
	r.forwarded = sig
	r.toGroup(sig)
}

// A suspension says how a job is stopped.
type suspension struct {
	sig         syscall.Signal
	hadTerminal bool // the command had it
	group       bool // stop this process's whole group
}

// park stops the whole command, then this process as the command was stopped, and continues both.
// The lease may have ended in between, so it is renewed before the command goes on. Until every
// member stands still the lock is kept.
func (r *run) park(s suspension) {
	if s.hadTerminal {
		r.term.reclaim(r.child.pid)
	}
	if !r.standStill() {
		r.forwarded = 0
		if !r.stands.waiting() {
			r.goOn(s)
		}
		return
	}
	if r.Parked != nil {
		r.Parked()
	}
	r.Guard.park()
	if r.forwarded == 0 || !r.continued() {
		resume := suspend(s.sig, s.group)
		r.awaitCont()
		resume()
	}
	r.stands.take() // the answers of before
	err := r.callResumed()
	r.forwarded = 0
	if stands, ok := errors.AsType[*StandsError](err); ok {
		r.standParked(s, stands.Reason)
		return
	}
	r.Guard.unpark()
	if err != nil {
		r.terminate(stopOf(err))
		return
	}
	r.goOn(s)
}

// goOn continues a suspended job.
func (r *run) goOn(s suspension) {
	r.giveTerminal(s.hadTerminal)
	r.toGroup(unix.SIGCONT)
}

// giveTerminal gives the terminal to a command that goes on in the foreground, if it had the
// terminal before or a person typed it. Otherwise the command asks for it.
func (r *run) giveTerminal(again bool) {
	if isMine(r.term.foreground()) && (again || r.interactive()) {
		_ = r.term.give(r.child.pid)
	}
}

func (r *run) callResumed() error {
	if r.Resumed == nil {
		return nil
	}
	defer r.keepStill()()
	return r.Resumed()
}

// contWait is how long this process waits for SIGCONT after a stop. SIGCONT has already arrived if
// this process was stopped. It never comes for PID 1 and in an orphaned process group
// (setpgid(2)). The command, which has a parent in its session, stops even there, and is continued
// after this pause.
const contWait = 100 * time.Millisecond

func (r *run) awaitCont() {
	timeout := time.NewTimer(contWait)
	defer timeout.Stop()
	for {
		select {
		case sig := <-r.signals:
			if meaningOf(sig).alone == resumes {
				return
			}
			r.forwardParked(sig)
		case <-timeout.C:
			return
		}
	}
}

// continued reports whether SIGCONT arrived before this process stood still: others of its group
// stopped at once, and the shell saw it.
func (r *run) continued() bool {
	for {
		select {
		case sig := <-r.signals:
			if meaningOf(sig).alone == resumes {
				return true
			}
			r.forwardParked(sig)
		default:
			return false
		}
	}
}

// forwardParked is forward for a command that is stopped and whose stop is being handled: another
// stop has no effect.
func (r *run) forwardParked(sig os.Signal) {
	if meaningOf(sig).alone != suspends {
		r.onSignal(sig)
	}
}
