package report

import (
	"cmp"
	"slices"
	"time"

	"redlockrun/internal/lock"
)

// A JobChoice says which jobs are meant: those of which all that is said is true.
type JobChoice struct {
	Running, Paused, Bad bool
	Host                 string // the holder's, or that of the run that has vanished; "" is any
}

// Of returns the chosen ones of jobs: the worst first, those that are alike by name.
func (c JobChoice) Of(jobs []lock.Job) (chosen []lock.Job) {
	for _, j := range jobs {
		if (!c.Running || Running(j)) && (!c.Paused || Paused(j)) && (!c.Bad || Bad(j)) &&
			(c.Host == "" || runsOn(j, c.Host)) {
			chosen = append(chosen, j)
		}
	}
	slices.SortStableFunc(chosen, func(a, b lock.Job) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Name, b.Name))
	})
	return chosen
}

// runsOn reports whether a run of the job holds its lock or a permit on a host, or vanished there.
func runsOn(j lock.Job, host string) bool {
	return Subject(j).Host == host ||
		slices.ContainsFunc(j.Holders, func(h lock.PermitHolder) bool { return h.Host == host })
}

// A RunChoice says which entries of a job are meant.
type RunChoice struct {
	Most  int           // at most so many; 0: all
	Since time.Duration // those that ended so long ago at most; 0: all
	Bad   bool          // runs that did not end well
	Host  string        // where they ran; "" is any
}

// Of are the chosen ones of entries, which stand newest first, at an instant.
func (c RunChoice) Of(entries []lock.Entry, now time.Time) (chosen []lock.Entry) {
	for _, e := range entries {
		if c.Most > 0 && len(chosen) == c.Most {
			break
		}
		if (!c.Bad || e.Act == "" && e.End != lock.EndOk) && (c.Host == "" || c.Host == e.Host) &&
			(c.Since == 0 || now.Sub(Dated(e)) <= c.Since) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}

// Dated is the instant by which an entry is told from older ones: its end, or its beginning
// if the end is unknown.
func Dated(e lock.Entry) time.Time {
	if e.Ended.IsZero() {
		return e.At
	}
	return e.Ended
}
