package main

import (
	"redlockrun/internal/lock"

	"github.com/rs/zerolog"
)

// eventField says in --log-format json what a line is about, by a name that
// stays as it is. The README lists the names.
const eventField = "event"

// Events of a run; how one ends is named by its status (endingOf).
const (
	eventConfig      = "config"         // what should be known of the configuration
	eventWaiting     = "waiting"        // for a busy lock, in line at a place
	eventRejoined    = "rejoined"       // the place in the line was lost
	eventUncalled    = "uncalled"       // waiting goes on by looking
	eventUnavailable = "unavailable"    // no answer, without a status: trying again
	eventBusy        = "busy"           // the lock stayed busy
	eventHeldLong    = "held-long"      // and is so for longer than --warn-held-after
	eventStarted     = "started"        // the lock is held, and the command starts
	eventLost        = "lost"           // without a status: the command runs on
	eventRegained    = "regained"       // it was held all the time
	eventReleased    = "released"       // the run is over
	eventUnreleased  = "release-failed" // the lock lapses by itself
	eventLeft        = "left-running"   // processes of the command
	eventCommand     = "command"        // what should be known of how the command runs
	eventDropped     = "dropped"        // lines that stderr did not take
)

// endingOf is the event of a run that ended with a status of redlockrun's own.
func endingOf(status int) string {
	switch status {
	case statusUsage:
		return "usage"
	case statusNotLock:
		return "not-a-lock"
	case statusUnavailable:
		return eventUnavailable
	case statusFailed:
		return "failed"
	case statusLost:
		return eventLost
	case statusRanOut:
		return "max-runtime"
	case 126, 127:
		return "not-started"
	}
	return "signalled"
}

// inWords reports whether a line of text has a field in its message.
func inWords(field string) bool {
	switch field {
	case "level", "message", "error", hintField, eventField, "key", "address", "from", "run", "host", "pid", "user", "command",
		"foreign", "left_ms", "held_ms", "place", "status", "fence", "renewals", "failed_tries", "closest_ms", "processes":
		return true
	}
	return false
}

// about is the logger of what concerns the lock.
func (s *session) about(log zerolog.Logger) zerolog.Logger {
	return log.With().Str("key", s.key).Str("address", s.address.name).Str("from", s.address.from).Logger()
}

// asHolder is the logger of a run that has the lock.
func asHolder(log zerolog.Logger, h lock.Holder) zerolog.Logger {
	return log.With().Str("run", h.Run).Str("host", h.Host).Int("pid", h.PID).Logger()
}

// ofHolder says who has a busy lock, for how long, and what is left of that.
func ofHolder(event *zerolog.Event, e *lock.HeldError) *zerolog.Event {
	if h := e.Holder; h.Run != "" {
		event.Str("run", h.Run).Str("host", h.Host).Int("pid", h.PID).Str("user", h.User).Str("command", h.Command)
	} else if h.Foreign != "" {
		event.Str("foreign", h.Foreign)
	}
	if e.TTL > 0 {
		event.Int64("left_ms", e.TTL.Milliseconds())
	}
	if held := heldFor(e); held > 0 {
		event.Int64("held_ms", held.Milliseconds())
	}
	if e.Place > 0 {
		event.Int("place", e.Place)
	}
	return event
}
