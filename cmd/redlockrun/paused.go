package main

import (
	"strconv"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainPaused is a run of a job that is paused: a conflict, but not one that somebody
// should look at.
func explainPaused(e *lock.HeldError, c plan) outcome {
	o := failure(c.Conflict, pausedJob(e.Name, e.Pause)+" ("+c.where()+")",
		typed("resume", e.Name)+" ends the pause; --ignore-pause runs in spite of it; --wait D waits for its end")
	o.event, o.fields = console.EventPaused, ofHolder(e)
	if c.Conflict == statusOK {
		o.level, o.hints, o.watched = console.Info, nil, true
	}
	return o
}

// pausedJob says by whom a job is paused, until when and why.
func pausedJob(name string, p *lock.PauseMark) string {
	return "job " + strconv.Quote(name) + " is paused " + pause(p)
}

// pause is by alice@desk until 2026-03-01 14:00 CET: deploy.
func pause(p *lock.PauseMark) string {
	text := "by " + lock.Plain(p.By) + " " + untilWhen(p.Until)
	if p.Why != "" {
		text += ": " + lock.Plain(p.Why)
	}
	return text
}

// untilWhen is the end of a pause, by this host's time zone.
func untilWhen(t time.Time) string {
	if t.IsZero() {
		return "for ever"
	}
	return "until " + lock.Clock(t)
}

// ofPause are the fields of a pause.
func ofPause(p *lock.PauseMark) []console.Field {
	fields := []console.Field{{Name: "by", Value: p.By}}
	if p.Why != "" {
		fields = append(fields, console.Field{Name: "why", Value: p.Why})
	}
	if !p.Until.IsZero() {
		fields = append(fields, console.Field{Name: "until", Value: p.Until.UTC().Format("2006-01-02T15:04:05.000Z")})
	}
	return fields
}
