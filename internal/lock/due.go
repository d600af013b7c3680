package lock

import (
	"slices"
	"time"
)

// LongestMaxAge is the longest MaxAge of a job. Half of what the ledger remembers is left for pauses.
const LongestMaxAge = 45 * 24 * time.Hour

// MaxAge is how old the last success of a job may become, as a run says. The zero value says nothing.
type MaxAge struct {
	Set   bool
	Limit time.Duration // 0: nothing is expected any more
}

// A PauseSpan is the time from which until which a job was, is or will be paused.
type PauseSpan struct {
	ID    string // of the pause
	Since time.Time
	Until time.Time // zero: no end is known
}

// Paused reports whether the job is paused, or will be when its run has ended.
func (j *Job) Paused() bool { return j.State == StatePaused || j.Pause != nil }

// Success returns the last successful run; Run is "" if none is known.
func (j *Job) Success() Entry {
	if j.LastEnd.Run != "" && j.LastEnd.End == EndOk && j.LastEnd.Ended.After(j.LastSuccess.Ended) {
		return j.LastEnd
	}
	return j.LastSuccess
}

// Overdue reports whether the job is not paused, and expects a success for longer than its MaxAge. Pauses do not count.
func (j *Job) Overdue() bool {
	due, known := j.Due()
	return known && j.Now.After(due)
}

// Due returns the instant after which the job is overdue, unless it succeeds or is paused before.
// It is not known while the job is paused: the end of the pause decides it.
func (j *Job) Due() (due time.Time, known bool) {
	due, known = j.due(j.Pauses)
	return due, known && !j.Paused() && !j.Now.IsZero()
}

// OverdueSince returns when the job became overdue, paused or not. It is unknown if the job is not
// overdue.
func (j *Job) OverdueSince() (at time.Time, known bool) {
	pauses := j.Pauses
	if p := j.Pause; p != nil {
		pauses = append(slices.Clone(pauses), PauseSpan{ID: p.ID, Since: p.Since, Until: p.Until})
	}
	at, known = j.due(pauses)
	pausedBefore := j.Paused() && (j.Pause == nil || !j.Pause.Since.After(at))
	return at, known && j.Now.After(at) && !pausedBefore
}

func (j *Job) due(pauses []PauseSpan) (due time.Time, known bool) {
	since := j.ExpectedSince()
	if j.MaxAge <= 0 || since.IsZero() {
		return time.Time{}, false
	}
	return Deadline(since, j.MaxAge, pauses), true
}

// ExpectedSince returns the instant from which the next success is expected: the last success, or
// the first run that set MaxAge.
func (j *Job) ExpectedSince() time.Time {
	if good := j.Success().Ended; good.After(j.MaxAgeSince) {
		return good
	}
	return j.MaxAgeSince
}

// Deadline returns the last instant at which no more than age of unpaused time has passed since an
// instant. A pause that begins after it does not move it, nor does one without a known end.
func Deadline(since time.Time, age time.Duration, pauses []PauseSpan) time.Time {
	pauses = slices.Clone(pauses)
	slices.SortFunc(pauses, func(a, b PauseSpan) int { return a.Since.Compare(b.Since) })
	deadline, counted := since.Add(age), since
	for _, p := range pauses {
		if p.Since.After(deadline) {
			break
		}
		if p.Since.After(counted) {
			counted = p.Since
		}
		if p.Until.After(counted) {
			deadline = deadline.Add(p.Until.Sub(counted))
			counted = p.Until
		}
	}
	return deadline
}
