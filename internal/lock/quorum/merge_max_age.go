package quorum

import (
	"cmp"
	"slices"
	"time"

	"redlockrun/internal/lock"
)

// maxAge takes how old the last success may become: what the run with the highest fence has said, so that a master that
// was away revives nothing. What no run has confirmed yet is believed of a majority.
func (m *merger) maxAge() {
	latest := slices.MaxFunc(m.seen, func(a,
		b masterView) int {
		return cmp.Compare(a.job.MaxAgeFence, b.job.MaxAgeFence)
	}).job
	expects := func(s masterView) bool { return s.job.MaxAge > 0 }
	if latest.MaxAgeFence == 0 {
		if m.count(expects) < m.need {
			return
		}
		latest = m.seen[slices.IndexFunc(m.seen, expects)].job
	}
	m.job.MaxAge, m.job.MaxAgeFence = latest.MaxAge, latest.MaxAgeFence
	if latest.MaxAge > 0 {
		m.job.MaxAgeSince = m.maxAgeSince()
	}
}

// maxAgeSince is since when a majority expects a success: a master that was away may have begun later, or before the
// last time that nothing was expected.
func (m *merger) maxAgeSince() time.Time {
	var since []time.Time
	for _, s := range m.seen {
		if s.job.MaxAge > 0 && !s.job.MaxAgeSince.IsZero() {
			since = append(since, s.job.MaxAgeSince)
		}
	}
	if len(since) == 0 {
		return time.Time{}
	}
	slices.SortFunc(since, func(a, b time.Time) int { return b.Compare(a) })
	return since[min(m.need, len(since))-1]
}

// pauses are those that a majority has had. One has ended when the first master that knows of it says so.
func (m *merger) pauses() {
	var known []lock.PauseSpan
	masters := map[string]int{}
	for _, s := range m.seen {
		for _, p := range s.job.Pauses {
			i := slices.IndexFunc(known, func(k lock.PauseSpan) bool { return k.ID == p.ID })
			if masters[p.ID]++; i < 0 {
				known = append(known, p)
				continue
			}
			if end := known[i].Until; end.IsZero() || !p.Until.IsZero() && p.Until.Before(end) {
				known[i].Until = p.Until
			}
		}
	}
	m.job.Pauses = slices.DeleteFunc(known, func(p lock.PauseSpan) bool { return masters[p.ID] < m.need })
	slices.SortFunc(m.job.Pauses, func(a, b lock.PauseSpan) int { return a.Since.Compare(b.Since) })
}
