package explain

import (
	"strconv"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainPaused explains a run of a paused job: a conflict, but a normal one.
func explainPaused(e *lock.HeldError, c About) Explanation {
	o := Failure(c.Config.Conflict, DescribePausedJob(e.Name, e.Pause)+" ("+c.Where()+")",
		CommandLine("resume", e.Name)+" ends the pause; --ignore-pause runs anyway; --wait D waits for its end")
	o.Event, o.Fields = console.EventPaused, HolderFields(e)
	return o.asSkip(c)
}

// DescribePausedJob says who paused a job, until when and why.
func DescribePausedJob(name string, p *lock.PauseMark) string {
	return "job " + strconv.Quote(name) + " is paused " + DescribePause(p)
}

// DescribePause returns by alice@desk until 2026-03-01 14:00 CET: deploy.
func DescribePause(p *lock.PauseMark) string {
	text := "by " + lock.Escaped(p.By) + " " + DescribeUntil(p.Until)
	if p.Reason != "" {
		text += ": " + lock.Escaped(p.Reason)
	}
	return text
}

// DescribeUntil formats the end of a pause, in this host's time zone.
func DescribeUntil(t time.Time) string {
	if t.IsZero() {
		return "for ever"
	}
	return "until " + lock.LocalTime(t)
}

// pauseFields returns the fields of a pause.
func pauseFields(p *lock.PauseMark) []console.Field {
	fields := []console.Field{{Name: "by", Value: p.By}}
	if p.Reason != "" {
		fields = append(fields, console.Field{Name: "why", Value: p.Reason})
	}
	if !p.Until.IsZero() {
		fields = append(fields, console.Field{Name: "until", Value: lock.Instant{Time: p.Until}.String()})
	}
	return fields
}
