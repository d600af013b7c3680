package runner

import (
	"errors"
	"os"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

const (
	// standLook is the time between two looks at a group that stands still. It is shorter than that
	// of the guard, which kills a member that it finds running twice.
	standLook = 25 * time.Millisecond

	// mostFound is the number of looks in a row that may find a running member. mostContinued is
	// how often in a second another process may continue the group. Beyond them it is killed.
	mostFound     = 40
	mostContinued = 30
)

// A standing is a group that stands still because its lease is in doubt. This process alone
// continues it, and only under a lease.
type standing struct {
	standstill
	reason error
	by     time.Time // boottime: a group that is not seen to be stopped then is killed
	look   *time.Timer
	pause  time.Duration // until the next try to stop it
	still  bool          // every member was seen to be stopped, and the guard knows

	hadTerminal bool
	before      bool           // another process had stopped it, and has not continued it since
	suspends    syscall.Signal // a stop signal that came before it stood still; 0: none

	found     int       // looks in a row that found a running member
	continued int       // how often it was stopped again since the instant from
	from      time.Time // boottime
}

// looks returns a channel that is readable when a group that stands still is due for a look.
func (r *run) looks() <-chan time.Time {
	if r.standing == nil {
		return nil
	}
	return r.standing.look.C
}

func (r *run) obeyAll(orders []standOrder) {
	for _, o := range orders {
		switch {
		case o.reason == nil:
			r.endStanding(o.by)
		case r.standing == nil:
			r.stand(o)
		}
	}
}

// stand begins to stop the group. A command that has been told to end does not stand: its grace
// ends with the lease.
func (r *run) stand(o standOrder) {
	switch {
	case r.stop != nil:
		r.terminate(&StopError{Reason: o.reason, KillBy: o.by})
		return
	case r.ordered.Has(unix.SIGTERM):
		r.terminate(&StopError{Reason: &SignalError{Signal: unix.SIGTERM}, KillBy: o.by})
		return
	}
	s := r.newStanding(o)
	s.before = r.isStopped && guard.Look(s.group).Still()
	s.suspends, r.forwarded = r.forwarded, 0
	r.lookAtStanding()
	s.hadTerminal = r.term.reclaim(s.group)
}

func (r *run) newStanding(o standOrder) *standing {
	r.standing = &standing{
		standstill: standstill{group: r.child.pid, hides: procHides()},
		reason:     o.reason, by: o.by, look: time.NewTimer(time.Hour), pause: soonestLook,
	}
	return r.standing
}

// standParked makes a group that Ctrl-Z has stopped stand still, because its lease is in doubt.
func (r *run) standParked(s suspension, reason error) {
	r.newStanding(standOrder{reason: reason}).hadTerminal = s.hadTerminal
	r.standStopped()
}

// lookAtStanding is called when a look is due.
func (r *run) lookAtStanding() {
	switch s := r.standing; {
	case r.stop != nil: // it is being killed
	case s.still && s.runs() && !guard.OnlyWaiters(s.group):
		r.onRunning()
		s.look.Reset(standLook)
	case s.still:
		s.found = 0
		s.look.Reset(standLook)
	case boottime.Until(s.by) <= 0:
		r.killStanding(s.reason)
	case s.try():
		r.standStopped()
	default:
		s.look.Reset(min(s.pause, max(boottime.Until(s.by), 0)))
		s.pause = min(2*s.pause, latestLook/5)
	}
}

// standStopped is called when every member is stopped.
func (r *run) standStopped() {
	s := r.standing
	s.still = true
	r.Guard.parkStanding()
	s.look.Reset(standLook)
	if sig := s.suspends; sig != 0 {
		s.suspends = 0
		r.suspendStanding(sig)
	}
}

// onRunning is called when a look finds a running member. A thread that has a signal to take runs
// until it is scheduled, though it executes nothing.
func (r *run) onRunning() {
	s := r.standing
	if s.found++; s.found == 1 {
		r.stopAgain()
		return
	}
	_ = unix.Kill(-s.group, unix.SIGSTOP)
	if s.found >= mostFound {
		r.killStanding(s.reason)
	}
}

// stopAgain stops a group that another process has continued.
func (r *run) stopAgain() {
	s := r.standing
	_ = unix.Kill(-s.group, unix.SIGSTOP)
	if now := boottime.Now(); now.Sub(s.from) > time.Second {
		s.from, s.continued = now, 0
	}
	if s.continued++; s.continued > mostContinued {
		r.killStanding(s.reason)
	}
}

// killStanding kills a group that stands still, or should.
func (r *run) killStanding(reason error) {
	r.terminate(&StopError{Reason: reason, KillBy: boottime.Now()})
}

// onStandingChange is onChange for a command that stands still. Its own stop means nothing more.
func (r *run) onStandingChange(e event) {
	s := r.standing
	if r.stop != nil || !s.still {
		return
	}
	if e.code != cldContinued { // it stops, one thread after the other
		return
	}
	s.before = false
	if guard.Runs(s.group) {
		r.stopAgain()
	}
}

// onSignal passes a signal on. A command that stands still gets none that would continue it; one
// that would end it kills it.
func (r *run) onSignal(sig os.Signal) {
	if r.standing == nil {
		r.forward(sig)
		return
	}
	switch m := meaningOf(sig); {
	case m.alone == ends && m.to == toGroup:
		r.noteOrder(sig.(syscall.Signal))
		r.killStanding(Interrupted(sig))
	case m.alone == suspends:
		r.suspendStanding(sig.(syscall.Signal))
	case m.alone == resumes:
		r.standing.before = false
	default:
		r.forward(sig)
	}
}

// suspendStanding stops this process alone: its command is stopped, and the guard knows.
func (r *run) suspendStanding(sig syscall.Signal) {
	if r.stop != nil {
		return
	}
	if !r.standing.still {
		r.standing.suspends = sig
		return
	}
	if r.Parked != nil {
		r.Parked()
	}
	r.stands.take() // the answers of before
	resume := suspend(sig, false)
	r.awaitCont()
	resume()
	if r.stop != nil {
		return
	}
	switch err := r.callResumed(); {
	case err == nil:
		r.continueStanding()
	case !errors.As(err, new(*StandsError)):
		r.terminate(stopOf(err))
	}
}

// endStanding continues the command under a lease, unless that ends again at by.
func (r *run) endStanding(by time.Time) {
	if r.standing != nil && r.stop == nil && boottime.Until(by) > 0 {
		r.continueStanding()
	}
}

// continueStanding continues the command. A group that another process had stopped stays stopped.
func (r *run) continueStanding() {
	s := r.standing
	s.look.Stop()
	r.standing = nil
	r.Guard.unpark()
	r.isStopped = s.before
	if s.before {
		return
	}
	r.giveTerminal(s.hadTerminal)
	r.toGroup(unix.SIGCONT)
	if s.suspends != 0 {
		r.forwardStop(s.suspends)
	}
}
