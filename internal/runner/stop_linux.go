package runner

import (
	"errors"
	"time"

	"redlockrun/internal/boottime"

	"golang.org/x/sys/unix"
)

const (
	killAgain = time.Second           // between two SIGKILLs for a command that does not end
	groupPoll = 10 * time.Millisecond // between two looks at a group whose leader has ended
)

// stopOf returns cause as a StopError.
func stopOf(cause error) *StopError {
	var stop *StopError
	if errors.As(cause, &stop) {
		return stop
	}
	return &StopError{Reason: cause}
}

// terminate begins to stop the command, or hastens a stop that has begun. A command that has
// already ended keeps its own status.
func (r *run) terminate(s *StopError) {
	if r.child.ended() {
		return
	}
	first := r.stop == nil
	killAt := boottime.Now()
	if r.standing == nil { // a command that stands still cannot use a grace
		killAt = killAt.Add(r.Grace)
	}
	if first {
		r.stop, r.killAt = s, killAt
	}
	r.killBy(s.KillBy)
	left := boottime.Until(r.killAt)
	if left <= 0 {
		r.kill()
		return
	}
	if first {
		r.toGroup(unix.SIGTERM)
		r.toGroup(unix.SIGCONT) // a stopped process gets no SIGTERM
	}
	r.alarm.Reset(left)
}

func (r *run) terminateAll(stops []*StopError) {
	for _, s := range stops {
		r.terminate(s)
	}
}

// killBy moves the SIGKILL forward to at, unless at is zero.
func (r *run) killBy(at time.Time) {
	if !at.IsZero() && at.Before(r.killAt) {
		r.killAt = at
	}
}

// kill is called at the instant of the SIGKILL, and from then on each second. The command may be
// out of reach only for now (it runs as another user).
func (r *run) kill() {
	if left := boottime.Until(r.killAt); left > 0 {
		r.alarm.Reset(left)
		return
	}
	r.toGroup(unix.SIGKILL)
	r.alarm.Reset(killAgain)
}

// awaitGroup is called when the command has ended after a stop. Other members of its group may
// still react to SIGTERM: they get the rest of the grace period. The leader is not reaped, so the
// group's number is still theirs. At the end every member gets SIGKILL, also those that /proc
// hides. The result is how long they may take to die: on a busy machine a member that has the
// lowest priority waits for the processor.
func (r *run) awaitGroup() (dying time.Duration) {
	dying = killAgain
	tick := time.NewTicker(groupPoll)
	defer tick.Stop()
	for killed := false; restLives(r.child.pid); {
		select {
		case <-tick.C:
		case sig := <-r.signals:
			r.onSignal(sig)
		case <-r.stops.C():
			for _, s := range r.stops.take() {
				r.killBy(s.KillBy)
			}
		}
		left := boottime.Until(r.killAt)
		if killed && left < -killAgain {
			dying = dyingLimit
			break // out of reach: Status.Left counts them
		}
		if left <= 0 {
			killed = true
			r.toGroup(unix.SIGKILL)
		}
	}
	_ = unix.Kill(-r.child.pid, unix.SIGKILL)
	return dying
}
