package main

import (
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
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

// about are the fields of what concerns the lock.
func (s *session) about() []console.Field {
	return []console.Field{{Name: "key", Value: s.Key}, {Name: "address", Value: s.place}, {Name: "from", Value: s.Address.From}}
}

// asHolder are the fields of what concerns a run that has the lock.
func asHolder(h lock.Holder) []console.Field {
	return []console.Field{{Name: "run", Value: h.Run}, {Name: "host", Value: h.Host}, {Name: "pid", Value: h.PID}}
}

// ofHolder says who has a busy lock, for how long, and what is left of that.
func ofHolder(e *lock.HeldError) (fields []console.Field) {
	add := func(name string, value any) { fields = append(fields, console.Field{Name: name, Value: value}) }
	if h := e.Holder; h.Run != "" {
		fields = asHolder(h)
		add("user", h.User)
		add("command", h.Command)
	} else if h.Foreign != "" {
		add("foreign", h.Foreign)
	}
	if p := e.Pause; p != nil {
		fields = ofPause(p)
	}
	if e.TTL > 0 {
		add("left_ms", e.TTL.Milliseconds())
	}
	if held := heldFor(e); held > 0 {
		add("held_ms", held.Milliseconds())
	}
	if e.Place > 0 {
		add("place", e.Place)
	}
	return fields
}
