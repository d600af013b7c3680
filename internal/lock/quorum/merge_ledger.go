package quorum

import (
	"slices"
	"time"

	"redlockrun/internal/lock"
)

// entries are what each master has in a place of entries.
func (m *merger) entries(of func(lock.Job) []lock.Entry) []lock.Entry {
	var lists [][]lock.Entry
	for _, s := range m.seen {
		lists = append(lists, of(s.job))
	}
	return mergedEntries(m.need, lists)
}

func (m *merger) ledger() {
	latest := func(of func(lock.Job) lock.Entry) lock.Entry {
		for _, e := range m.entries(func(j lock.Job) []lock.Entry { return []lock.Entry{of(j)} }) {
			return e
		}
		return lock.Entry{}
	}
	m.job.LastEnd = latest(func(j lock.Job) lock.Entry { return j.LastEnd })
	m.job.LastSuccess = latest(func(j lock.Job) lock.Entry { return j.LastSuccess })
	m.job.Stopped = latest(func(j lock.Job) lock.Entry { return j.Stopped })
	m.job.Runs = m.entries(func(j lock.Job) []lock.Entry { return j.Runs })
	for _, s := range m.seen {
		if t := s.job.Tail; m.job.Tail.Run == "" || t.Run == m.job.LastEnd.Run {
			m.job.Tail = t
		}
	}
	for _, s := range m.seen {
		if j := s.job; j.Mean > 0 && (m.job.Mean == 0 || j.LastEnd.Run == m.job.LastEnd.Run) {
			m.job.Mean = j.Mean
			if j.LastEnd.Run == m.job.LastEnd.Run {
				break
			}
		}
	}
}

// open takes the entry of a run that is open.
func (m *merger) open(run string) {
	for _, s := range m.seen {
		for _, e := range opened(s.job) {
			if e.Run == run {
				m.job.Open = e
				return
			}
		}
	}
}

// opened are the runs that a master believes to be running.
func opened(j lock.Job) []lock.Entry { return append([]lock.Entry{j.Open}, j.Unresolved...) }

// vanished is the run that a majority believes to be running although nobody has the lock, the
// latest of them; "" if there is none, or if a master knows how it ended.
func (m *merger) vanished() (run string) {
	var at time.Time
	for _, s := range m.seen {
		for _, e := range opened(s.job) {
			believed := m.count(func(other masterView) bool {
				return slices.ContainsFunc(opened(other.job), func(o lock.Entry) bool { return o.Run == e.Run })
			})
			if e.Run != "" && believed >= m.need && !m.ended(e.Run) && (run == "" || e.At.After(at)) {
				run, at = e.Run, e.At
			}
		}
	}
	return run
}

func (m *merger) ended(run string) bool {
	is := func(e lock.Entry) bool { return e.Run == run && e.Act == "" && e.End != "" }
	return m.count(func(s masterView) bool { return is(s.job.LastEnd) || slices.ContainsFunc(s.job.Runs, is) }) > 0
}

// mergedEntries are the entries of several masters, newest first: one of each run. That a run
// has vanished is believed of so many as are needed, if nobody knows better.
func mergedEntries(need int, lists [][]lock.Entry) (entries []lock.Entry) {
	vanished, place := map[string]int{}, map[string]int{}
	for _, list := range lists {
		for _, e := range list {
			switch i, known := place[e.Run]; {
			case e.Run == "" && e.Act == "":
			case e.Act != "":
				if !slices.ContainsFunc(entries, func(other lock.Entry) bool { return sameAct(e, other) }) {
					entries = append(entries, e)
				}
			case !known:
				place[e.Run] = len(entries)
				entries = append(entries, e)
			case weight(e) > weight(entries[i]):
				entries[i] = e
			}
			if e.End == lock.EndVanished {
				vanished[e.Run]++
			}
		}
	}
	entries = slices.DeleteFunc(entries,
		func(e lock.Entry) bool { return e.End == lock.EndVanished && vanished[e.Run] < need })
	slices.SortStableFunc(entries, func(a, b lock.Entry) int { return b.Ended.Compare(a.Ended) })
	return entries
}

// weight says whom to believe of the end of a run: itself, then an operator.
func weight(e lock.Entry) int {
	switch e.End {
	case lock.EndVanished:
		return 0
	case lock.EndUnlocked:
		return 1
	}
	return 2
}

// sameAct reports whether two masters speak of one act: their clocks differ.
func sameAct(a, b lock.Entry) bool {
	return a.Act == b.Act && a.Run == b.Run && a.Host == b.Host && a.User == b.User && a.Reason == b.Reason &&
		a.Ended.Sub(b.Ended).Abs() < time.Minute
}
