package explain

import (
	"strconv"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainPaused is a run of a job that is paused: a conflict, but not one that somebody
// should look at.
func explainPaused(e *lock.HeldError, c About) Explanation {
	o := Failure(c.Config.Conflict, PausedJob(e.Name, e.Pause)+" ("+c.Where()+")",
		Typed("resume", e.Name)+" ends the pause; --ignore-pause runs in spite of it; --wait D waits for its end")
	o.Event, o.Fields = console.EventPaused, OfHolder(e)
	return o.asSkip(c)
}

// PausedJob says by whom a job is paused, until when and why.
func PausedJob(name string, p *lock.PauseMark) string {
	return "job " + strconv.Quote(name) + " is paused " + Pause(p)
}

// Pause is by alice@desk until 2026-03-01 14:00 CET: deploy.
func Pause(p *lock.PauseMark) string {
	text := "by " + lock.Escaped(p.By) + " " + UntilWhen(p.Until)
	if p.Reason != "" {
		text += ": " + lock.Escaped(p.Reason)
	}
	return text
}

// UntilWhen is the end of a pause, by this host's time zone.
func UntilWhen(t time.Time) string {
	if t.IsZero() {
		return "for ever"
	}
	return "until " + lock.LocalTime(t)
}

// ofPause are the fields of a pause.
func ofPause(p *lock.PauseMark) []console.Field {
	fields := []console.Field{{Name: "by", Value: p.By}}
	if p.Reason != "" {
		fields = append(fields, console.Field{Name: "why", Value: p.Reason})
	}
	if !p.Until.IsZero() {
		fields = append(fields, console.Field{Name: "until", Value: lock.Instant{Time: p.Until}.String()})
	}
	return fields
}
