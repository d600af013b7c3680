package explain

import (
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// EndEvent returns the event of a run that ended with a status of redlockrun's own.
func EndEvent(status int) string {
	switch status {
	case StatusUsage:
		return console.EventUsage
	case StatusNotLock:
		return console.EventNotLock
	case StatusUnavailable:
		return console.EventUnavailable
	case StatusFailed:
		return console.EventFailed
	case StatusLost:
		return console.EventLost
	case statusMaxRuntime:
		return console.EventMaxRuntime
	case 126, 127:
		return console.EventNotStarted
	}
	return console.EventSignalled
}

// RunFields returns the fields of a run that has the lock.
func RunFields(h lock.Holder) []console.Field {
	return []console.Field{{Name: "run", Value: h.Run}, {Name: "host", Value: h.Host}, {Name: "pid", Value: h.PID}}
}

// HolderFields returns the holder of a busy lock, for how long it has held it, and what is left.
func HolderFields(e *lock.HeldError) (fields []console.Field) {
	add := func(name string, value any) { fields = append(fields, console.Field{Name: name, Value: value}) }
	if h := e.Holder; h.Run != "" {
		fields = RunFields(h)
		add("user", h.User)
		add("command", h.Command)
	} else if h.Foreign != "" {
		add("foreign", h.Foreign)
	}
	if p := e.Pause; p != nil {
		fields = pauseFields(p)
	}
	if e.TTL > 0 {
		add("left_ms", e.TTL.Milliseconds())
	}
	if held := heldFor(e); held > 0 {
		add("held_ms", held.Milliseconds())
	}
	if e.Position > 0 {
		add("place", e.Position)
	}
	return fields
}
