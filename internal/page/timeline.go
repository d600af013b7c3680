package page

import (
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/report"
)

// A timeline is who ran when in a window of time: a row for each job.
type timeline struct {
	from, to time.Time
	zone     *time.Location
	rows     []row
}

// A row is the drawing of one job, within the window.
type row struct {
	job       lock.Job
	spans     []span    // the oldest first
	pauses    []span    // likewise
	overdue   []span    // where it became overdue; empty if it did not
	dark      bool      // there is no history in a part of the window
	knownFrom time.Time // when the history starts
	undated   int       // how many remembered runs have no known time
}

// A span is something that took time.
type span struct {
	entry    lock.Entry
	from, to time.Time // not cut; to is zero if it goes on, or its end is unknown
	look     look
	place    place
	early    bool // it began before the window
	lettered bool // there is room for the letter of its look
	listed   bool // it is in the list of bad runs
}

// A place is where something is in the window, in hundredths of a percent of its width.
type place struct{ left, width int }

const whole100 = 100 * 100

// newTimeline draws jobs in the window of that length that ends now.
func newTimeline(jobs []lock.Job, now time.Time, length time.Duration, zone *time.Location) *timeline {
	t := &timeline{from: now.Add(-length), to: now, zone: zone}
	for _, j := range jobs {
		t.rows = append(t.rows, t.row(j))
	}
	return t
}

// latest is when the last of the jobs was read; otherwise is for none.
func latest(jobs []lock.Job, otherwise time.Time) time.Time {
	var last time.Time
	for _, j := range jobs {
		if j.Now.After(last) {
			last = j.Now
		}
	}
	if last.IsZero() {
		return otherwise
	}
	return last
}

func (t *timeline) row(j lock.Job) row {
	r := row{job: j}
	entries := report.Complete(j, j.Runs)
	for _, e := range slices.Backward(entries) {
		if s := spanOf(e, j); !s.from.IsZero() {
			r.spans = t.add(r.spans, s)
		} else {
			r.undated++
		}
	}
	for _, s := range current(j) {
		r.spans = t.add(r.spans, s)
	}
	for _, s := range pausesOf(j, entries) {
		r.pauses = t.add(r.pauses, s)
	}
	if at, overdue := j.OverdueSince(); overdue { // a mark from before the window is at its edge
		r.overdue = []span{{look: overdueLook, from: at, to: at, lettered: true,
			early: at.Before(t.from), place: t.place(at, at)}}
	}
	r.knownFrom, r.dark = t.memory(j, entries)
	letter(r.spans)
	return r
}

// spanOf draws an entry; from is zero if its time is unknown.
func spanOf(e lock.Entry, j lock.Job) span {
	s := span{entry: e, look: lookOf(e), from: e.At, to: e.Ended}
	if e.Act != "" || s.from.IsZero() {
		s.from = report.Dated(e)
	}
	switch {
	case e.Act != "" || s.to.Before(s.from) && !s.to.IsZero():
		s.to = s.from
	// no run has found it yet
	case s.to.IsZero() && e.End == lock.EndVanished && j.State == lock.StateVanished && e.Run == j.Open.Run:
		s.to = laterOf(j.Now, s.from)
	case s.to.IsZero():
		s.to = s.from
	}
	return s
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// current returns the run that has the lock, or the runs that have permits.
func current(j lock.Job) (runs []span) {
	for _, h := range j.Holders {
		if h.Run != "" && !h.At.IsZero() {
			entry := lock.Entry{Run: h.Run, Host: h.Host, User: h.User, PID: h.PID, Command: h.Command, At: h.At}
			runs = append(runs, span{entry: entry, look: lookOfState(h.State), from: h.At})
		}
	}
	if len(j.Holders) == 0 && report.Running(j) && !j.At.IsZero() {
		runs = append(runs, span{entry: report.Subject(j), look: lookOfState(j.State), from: j.At})
	}
	return runs
}

// pausesOf returns the pauses of a job, the oldest first; the entries come newest first. No entry
// records a pause that ends by itself. It is over at its intended end, or when a run begins.
func pausesOf(j lock.Job, entries []lock.Entry) (pauses []span) {
	var open *span
	end := func(at time.Time) {
		if open != nil {
			if until := open.entry.Until; !until.IsZero() && until.Before(at) {
				at = until
			}
			open.to = laterOf(at, open.from)
			pauses = append(pauses, *open)
			open = nil
		}
	}
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Ended.IsZero() && e.At.IsZero():
		case e.Act == lock.ActPause:
			end(report.Dated(e))
			open = &span{entry: e, look: pausedLook, from: report.Dated(e)}
		case e.Act == lock.ActResume:
			end(report.Dated(e))
		case e.Act == "" && open != nil && e.At.After(open.from):
			end(e.At)
		}
	}
	if m := j.Pause; m != nil {
		since := m.Since
		if open != nil && since.IsZero() {
			since = open.from
		}
		if !since.IsZero() {
			entry := lock.Entry{User: m.By, Reason: m.Reason, Act: lock.ActPause, Ended: m.Since}
			return append(pauses, span{entry: entry, look: pausedLook, from: since})
		}
		return pauses
	}
	end(j.Now)
	return pauses
}

// add adds a span if some of it lies in the window.
func (t *timeline) add(spans []span, s span) []span {
	to := s.to
	if to.IsZero() {
		to = laterOf(t.to, s.from)
	}
	if to.Before(t.from) {
		return spans
	}
	s.early = s.from.Before(t.from)
	s.place = t.place(s.from, to)
	return append(spans, s)
}

// place returns the part of the window between two instants.
func (t *timeline) place(from, to time.Time) place {
	left := t.at(from)
	return place{left, max(0, t.at(to)-left)}
}

// at is where an instant is; what lies outside of the window is at its edge.
func (t *timeline) at(instant time.Time) int {
	switch {
	case !instant.After(t.from):
		return 0
	case !instant.Before(t.to):
		return whole100
	}
	return int(float64(instant.Sub(t.from)) / float64(t.to.Sub(t.from)) * whole100)
}

// memory is when the history of a job starts; dark is false if it covers the whole window.
func (t *timeline) memory(j lock.Job, entries []lock.Entry) (first time.Time, dark bool) {
	runs := int64(0)
	for _, e := range slices.Backward(entries) {
		if e.Act == "" {
			runs++
		}
		if at := spanOf(e, j).from; first.IsZero() && !at.IsZero() {
			first = at
		}
	}
	ends := int64(0)
	for _, n := range j.Counts {
		ends += n
	}
	switch {
	case first.IsZero() && ends == 0 && (j.Counts != nil || len(j.Unread) == 0):
		return t.from, false // no run of it is known
	case first.IsZero():
		first = t.to
		if run := report.Subject(j); report.Running(j) && !run.At.IsZero() {
			first = run.At
		}
	case j.Counts != nil && 0 < ends && ends <= runs:
		return t.from, false // all that ever ran
	}
	return first, t.at(first) > 0
}

// letter gives their letters to the spans that are far enough from one another.
func letter(spans []span) {
	const apart = 150
	next := 0
	for i := range spans {
		s := &spans[i]
		if middle := s.place.left + s.place.width/2; looks[s.look].letter != "" && middle >= next {
			s.lettered = true
			next = middle + apart
		}
	}
}

// calm reports whether nothing runs, waits, or is paused.
func (r *row) calm() bool {
	j := r.job
	return j.State == lock.StateIdle && !report.Paused(j) && j.Waiting == 0 && len(j.Unread) == 0
}

// quiet reports whether all that ran in the window ended well, and nothing else happened.
func (r *row) quiet() bool {
	return len(r.pauses) == 0 && !slices.ContainsFunc(r.spans, func(s span) bool { return s.look != okLook })
}

// runs is how many runs of a row are drawn, and how many of them did not end well.
func (r *row) runs() (all, wrong int) {
	for _, s := range r.spans {
		if s.entry.Act == "" {
			all++
		}
		if looks[s.look].bad {
			wrong++
		}
	}
	return all, wrong
}
