package main

import (
	"redlockrun/internal/console"
	"redlockrun/internal/lock"

	"github.com/rs/zerolog"
)

// endingOf is the event of a run that ended with a status of redlockrun's own.
func endingOf(status int) string {
	switch status {
	case statusUsage:
		return console.EventUsage
	case statusNotLock:
		return console.EventNotLock
	case statusUnavailable:
		return console.EventUnavailable
	case statusFailed:
		return console.EventFailed
	case statusLost:
		return console.EventLost
	case statusRanOut:
		return console.EventMaxRuntime
	case 126, 127:
		return console.EventNotStarted
	}
	return console.EventSignalled
}

// about is the logger of what concerns the lock.
func (s *session) about(log zerolog.Logger) zerolog.Logger {
	return log.With().Str("key", s.Key).Str("address", s.place).Str("from", s.Address.From).Logger()
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
