package session

import (
	"fmt"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/watchdog"
)

// A doubt is the time for which nobody knows whether the lock is held.
type doubt struct {
	lost *watchdog.LostError
	over chan struct{} // closed when the lock is held again
}

// standStill makes the command stand still, and keeps others from being started.
func (h *canceller) standStill(lost *watchdog.LostError) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doubt = &doubt{lost, make(chan struct{})}
	if h.command != nil {
		h.command.StandStill(lost, lost.Kill)
	}
}

// goOn ends that.
func (h *canceller) goOn(by time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.doubt != nil {
		close(h.doubt.over)
		h.doubt = nil
	}
	if h.command != nil {
		h.command.GoOn(by)
	}
}

// doubtful returns a channel that is closed when the lock is held again; nil while it is.
func (h *canceller) doubtful() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.doubt == nil {
		return nil
	}
	return h.doubt.over
}

// StandStill makes the command stand still, and says so.
func (x *execution) StandStill(lost *watchdog.LostError) {
	x.canceller.standStill(lost)
	x.session.Console.Say(console.Message{
		Level: console.Warning, Event: console.EventStands,
		Text: explain.LostMessage(lost, *x.session.about) + "; the command stands still until it is held again",
	})
}

// Stands says that the command still stands still.
func (x *execution) Stands(stood time.Duration, lost *watchdog.LostError) {
	x.session.Console.Say(console.Message{
		Level: console.Warning, Event: console.EventStands, Err: lost.Err,
		Text: fmt.Sprintf("the command stands still since %s: lock %q is not held (%s)",
			config.Rounded(stood), x.session.config.Key, x.session.about.Where()),
		Fields: []console.Field{{Name: "stood_ms", Value: stood.Milliseconds()}},
	})
}

// GoOn lets the command go on, and says so.
func (x *execution) GoOn(by time.Time, stood time.Duration) {
	x.canceller.goOn(by)
	x.session.Warn(console.EventGoesOn, fmt.Sprintf("lock %q is held again; the command goes on after %s (%s)",
		x.session.config.Key, config.Rounded(stood), x.session.about.Where()),
		console.Field{Name: "stood_ms", Value: stood.Milliseconds()})
}
