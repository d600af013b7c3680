package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// What the line promises, in ms: who has not looked for so long, though it could, is passed over; who comes back
// from a time in which nobody could look has so long to do so.
const (
	silentMillis   = 12_000
	comeBackWithin = 2_000
)

// An attention is when those in line looked last, and since when they can again, if for long nobody has.
// It is the referee's own, by what it has seen; 0: nobody waits.
type attention struct{ latest, since int64 }

// gap finds out whether nobody could look until now.
func (a *attention) gap(now int64) {
	if a.latest == 0 {
		a.latest = now
	}
	if now-a.latest > silentMillis && a.since <= a.latest {
		a.since = now
	}
}

// excuses reports whether who cannot be called may be about to connect again. first: the step is that of one in line.
func (a *attention) excuses(now int64, first bool) bool {
	return a.since > 0 && now-a.since <= comeBackWithin && (a.latest >= a.since || first)
}

// entry is what the server knows of a run in line.
func (r *referee) entry(m *machine, run string) (seen int64, called bool) {
	text, _ := do(m.server, "HGET", r.keys.Waiters, run).(string)
	var digit int
	fmt.Sscanf(text, "%d %d", &seen, &digit)
	return seen, digit == 1
}

// noteLook notes who has looked by a step.
func (r *referee) noteLook(m *machine, now standing) {
	if len(now.line) == 0 || len(r.was.line) == 0 {
		r.attention = attention{}
	}
	ms := m.clock().UnixMilli()
	for i, run := range now.line {
		at := slices.Index(r.was.line, run)
		if now.seen[i] == ms && (at < 0 || r.was.seen[at] != ms) {
			r.attention.gap(ms)
			r.attention.latest = ms
		}
	}
}

// noteDismissedLook notes who has looked, and was sent away since nothing is to be done for its slot.
func (r *referee) noteDismissedLook(x *wire) {
	dismissed := bytes.HasPrefix(x.said, []byte("*2\r\n:6\r\n")) || bytes.HasPrefix(x.said, []byte("*2\r\n:7\r\n"))
	if dismissed {
		r.noteLastLook(x)
	}
}

// noteLastLook notes who has looked for the last time, while others wait.
func (r *referee) noteLastLook(x *wire) {
	if len(r.was.line) > 1 && slices.Contains(r.was.line, x.process.run) {
		ms := x.machine.clock().UnixMilli()
		r.attention.gap(ms)
		r.attention.latest = ms
	}
}

// inOrder: who comes stands behind those who have come before, and who has the lock waits for nothing.
func (r *referee) inOrder(now standing) {
	if slices.Contains(now.line, now.holder) && !slices.Contains(r.was.line, now.holder) {
		r.breach("line: %s has the lock, and stands in line", now.holder)
	}
	newcomer := ""
	for _, run := range now.line {
		switch old := slices.Contains(r.was.line, run); {
		case !old:
			newcomer = run
		case newcomer != "":
			r.breach("order: %s joins the line in front of %s", newcomer, run)
		}
	}
}

// isNext: what is free goes to the first in line who is there, and who is there has looked within 12 s, as far
// as it could, and can be called.
func (r *referee) isNext(now standing, x *wire) {
	ms := x.machine.clock().UnixMilli()
	caller := slices.ContainsFunc(r.was.line, func(run string) bool { // one who leaves excuses nobody
		return r.isOf(run, x) && (run == now.holder || slices.Contains(now.line, run))
	})
	r.attention.gap(ms)
	excused := r.attention.excuses(ms, caller)
	place := slices.Index(r.was.line, now.holder)
	for i, run := range r.was.line {
		if r.isOf(run, x) || r.runs[run] == nil {
			continue // it is here, or gives up by this step, and hands on what has become free meanwhile
		}
		fit := r.was.isFit(i, ms, r.attention.since, excused)
		switch {
		case i == place && !fit:
			r.breach("line: the lock is given to %s, who is not there", run)
		case (i < place || place < 0) && fit && !r.dismissed(x.machine, r.runs[run]):
			r.breach("order: the lock is given to %s, and %s came before", now.holder, run)
		}
	}
}

// isFit reports whether one in line is there.
func (s *standing) isFit(i int, now, since int64, excused bool) bool {
	return s.seen[i] > 0 && now-max(s.seen[i], since) <= silentMillis && (s.there[i] || !s.called[i] || excused)
}

// noteIdle notes whether a script has left the lock free while somebody in line is there.
func (r *referee) noteIdle(x *wire, now standing) {
	if !x.evaluates() {
		return
	}
	ms, idle := x.machine.clock().UnixMilli(), false
	for i, run := range now.line {
		idle = idle || now.holder == "" && r.runs[run] != nil && now.isFit(i, ms, 0, false) &&
			!r.dismissed(x.machine, r.runs[run])
	}
	if run := r.runs[x.process.run]; run != nil {
		run.idle = idle
	}
}

// noteLoss has the referee look whether a command ends whose redlockrun has asked, and finds the lock gone.
func (r *referee) noteLoss(x *wire, now standing) {
	run := r.runs[x.process.run]
	if run == nil || run.tick.continues || now.holder == run.id || !x.evaluates() || !slices.Contains(r.running, run) {
		return
	}
	t := r.world.times
	grace := t.Grace
	if now.holder != "" {
		grace = min(grace, beside)
	}
	r.world.schedule(r.world.in(refereeLane, time.Now().Add(t.Try+grace+t.Margin)), func() {
		if slices.Contains(r.running, run) && !run.process.disturbed {
			r.breach("renewal: the lock of %s is gone, and it runs on", run.id)
		}
	})
}

// evaluates reports whether what a machine was asked last is to run a script.
func (x *wire) evaluates() bool {
	return bytes.Contains(bytes.ToLower(x.asked[:min(len(x.asked), 32)]), []byte("\r\neval"))
}

// isOf reports whether a run is that of a wire.
func (r *referee) isOf(run string, x *wire) bool {
	return r.runs[run] != nil && r.runs[run].process == x.process
}

// toldTruly: who gives back what it has is not told that it was lost, and leaves nobody in line who is there.
func (r *referee) toldTruly(run *record) {
	if !r.world.outside && !r.world.forgetful() && !run.everFreed && errors.Is(run.err, lock.ErrLost) &&
		time.Now().Before(run.lease.Until()) {
		r.breach("release: %s is told that its lock was lost: %v", run.id, run.err)
	}
	var down *lock.UnavailableError
	if errors.As(run.err, &down) && !link.Final(run.err) && run.tick.slot != "" &&
		time.Now().Before(run.lease.Until()) {
		r.breach("release: %s gives up saying how it ended, and could have tried for another %v", run.id,
			time.Until(run.lease.Until()))
	}
	if (run.err == nil || errors.Is(run.err, lock.ErrLost)) && run.idle && !r.newer {
		r.breach("line: %s has given back what was gone, and nobody in line is given it", run.id)
	}
}
