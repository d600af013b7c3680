package runner

import (
	"errors"
	"time"

	"redlockrun/internal/boottime"

	"golang.org/x/sys/unix"
)

const (
	again = time.Second           // between two SIGKILLs for a command that does not end
	look  = 10 * time.Millisecond // between two looks at a group whose leader has ended
)

// stopOf is cause as a StopError.
func stopOf(cause error) *StopError {
	var stop *StopError
	if errors.As(cause, &stop) {
		return stop
	}
	return &StopError{Reason: cause}
}

// halt begins to stop the command, or hastens a stop that has begun. A command
// that has already ended is left its own status.
func (r *run) halt(s *StopError) {
	if r.child.ended() {
		return
	}
	killAt := boottime.Now().Add(r.Grace)
	if !s.KillBy.IsZero() && s.KillBy.Before(killAt) {
		killAt = s.KillBy
	}
	first := r.stop == nil
	if first {
		r.stop, r.killAt = s, killAt
	} else if killAt.Before(r.killAt) {
		r.killAt = killAt
	}
	if left := boottime.Until(r.killAt); left > 0 {
		if first {
			r.toGroup(unix.SIGTERM)
			r.toGroup(unix.SIGCONT) // a stopped process gets no SIGTERM
		}
		r.alarm.Reset(left)
		return
	}
	r.kill()
}

// kill is called at the instant of the SIGKILL, and from then on each second:
// the command may be out of reach only for now (it runs as another user).
func (r *run) kill() {
	if left := boottime.Until(r.killAt); left > 0 {
		r.alarm.Reset(left)
		return
	}
	r.toGroup(unix.SIGKILL)
	r.alarm.Reset(again)
}

// clear is called when the command has ended because it was stopped. Others of
// its group may still be at what SIGTERM made them do: they have the rest of the
// grace. The leader is not reaped, so the group's number is still theirs.
func (r *run) clear() {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for killed := false; living(r.child.pid) > 0; {
		select {
		case <-tick.C:
		case sig := <-r.signals:
			r.forward(sig)
		case <-r.stops.C():
			for _, s := range r.stops.take() {
				if !s.KillBy.IsZero() && s.KillBy.Before(r.killAt) {
					r.killAt = s.KillBy
				}
			}
		}
		if killed && boottime.Until(r.killAt) < -again {
			return // out of reach: Status.Left says how many
		}
		if boottime.Until(r.killAt) <= 0 {
			killed = true
			r.toGroup(unix.SIGKILL)
		}
	}
}
