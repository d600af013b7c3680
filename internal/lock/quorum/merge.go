package quorum

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// A masterView is a job as one master has it.
type masterView struct {
	address string
	job     lock.Job
}

// What stands at a lock's key, but for the run id of a record.
const (
	noHolder  = ""
	byPause   = "pause"
	byForeign = "foreign"
	unseen    = "unseen" // nobody could look
)

// holder is what has the lock at the master.
func (s masterView) holder() string {
	switch j := s.job; {
	case j.State == "":
		return unseen
	case j.Holder.Run != "":
		return j.Holder.Run
	case j.State == lock.StatePaused && j.Left != 0:
		return byPause
	case j.State == lock.StateForeign, j.State == lock.StateStuck:
		return byForeign
	}
	return noHolder
}

// A merger makes of what some masters say of one job what a majority has.
type merger struct {
	size, need int
	seen       []masterView // a majority at least
	job        lock.Job
}

// merged is what a majority of size masters has of a job, of which those in seen answered.
func merged(size int, seen []masterView) lock.Job {
	m := &merger{size: size, need: lock.Majority(size), seen: seen}
	holder, decided := m.holder()
	m.represent(holder)
	m.unread()
	m.unfit()
	m.ledger()
	m.maxAge()
	m.pauses()
	m.slots(holder)
	m.pause(holder == byPause)
	m.ends()
	switch {
	case !decided:
		m.job.State = ""
		m.note("the lock: %s", m.undecided())
	case holder == noHolder:
		m.open(m.vanished())
		m.job.State = wire.StateOfFree(&m.job)
	default:
		m.open(holder)
		m.job.State = wire.StateOfHeld(&m.job, holder == byPause)
		if m.job.State == lock.StateStarting { // a quorum hands nothing over
			m.job.State = lock.StateRunning
		}
	}
	return m.job
}

func (m *merger) note(format string, args ...any) {
	m.job.Unread = append(m.job.Unread, fmt.Sprintf(format, args...))
}

// count is how many of the masters are like this.
func (m *merger) count(like func(masterView) bool) (n int) {
	for _, s := range m.seen {
		if like(s) {
			n++
		}
	}
	return n
}

// unknown is how many masters could not be asked who has the lock.
func (m *merger) unknown() int {
	return m.size - m.count(func(s masterView) bool { return s.holder() != unseen })
}

// holder is what a majority has at the lock's key. decided is false if that depends on masters
// that could not be asked. Where no majority can have the same, nobody has the lock.
func (m *merger) holder() (holder string, decided bool) {
	decided = m.unknown() < m.need
	for _, s := range m.seen {
		h := s.holder()
		n := m.count(func(other masterView) bool { return other.holder() == h })
		switch {
		case h == unseen:
		case n >= m.need:
			return h, true
		case h != noHolder && n+m.unknown() >= m.need:
			decided = false
		}
	}
	return noHolder, decided
}

// undecided says what is known of a lock of which nobody can tell who has it.
func (m *merger) undecided() string {
	for _, s := range m.seen {
		h := s.holder()
		if n := m.count(func(other masterView) bool { return other.holder() == h }); h != noHolder && h != unseen {
			return fmt.Sprintf("%d of %d masters have it for %s, and %d did not answer", n, m.size, s.holderText(),
				m.unknown())
		}
	}
	return "no master answered"
}

// holderText is the holder as users see it.
func (s masterView) holderText() string {
	if s.holder() == byPause {
		return "a pause"
	}
	return s.job.Holder.Process()
}

// represent takes the holder, and the times of the lock, from the master with which the lock
// falls: the others of the majority have it for longer.
func (m *merger) represent(holder string) {
	var having []masterView
	for _, s := range m.seen {
		if s.holder() == holder {
			having = append(having, s)
		}
	}
	if holder == noHolder || len(having) < m.need {
		m.job = lock.Job{Name: m.seen[0].job.Name, Now: m.seen[0].job.Now}
		return
	}
	fences := make([]int64, 0, len(having))
	var ended time.Time
	for _, s := range having {
		fences = append(fences, s.job.Fence)
		if e := s.job.Holder.Ended; !e.IsZero() {
			ended = e
		}
	}
	slices.SortStableFunc(having, func(a, b masterView) int { return cmp.Compare(life(b.job), life(a.job)) })
	slices.Sort(fences)
	last := having[m.need-1].job
	m.job = lock.Job{
		Name: last.Name, Now: last.Now, Holder: last.Holder, At: last.At, Left: last.Left, Pause: last.Pause,
		Fence: fences[len(fences)-m.need],
	}
	m.job.Holder.Ended = ended
}

// unread takes in what could not be read.
func (m *merger) unread() {
	texts := unreadOf(m.seen, func(s masterView) (string, []string) { return s.address, s.job.Unread })
	m.job.Unread = append(m.job.Unread, texts...)
}

// unreadOf are what masters say that could not be read, each with the name of the master unless all say so.
func unreadOf[S any](seen []S, of func(S) (address string, unread []string)) (all []string) {
	from := map[string]int{}
	for _, s := range seen {
		_, texts := of(s)
		for _, text := range texts {
			from[text]++
		}
	}
	for _, s := range seen {
		address, texts := of(s)
		for _, text := range texts {
			if from[text] < len(seen) {
				text = address + ": " + text
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// unfit takes in why no run can take the lock, if too few masters are left for a majority.
func (m *merger) unfit() {
	n := m.count(func(s masterView) bool { return len(s.job.Unfit) > 0 })
	if n <= m.size-m.need {
		return
	}
	for _, s := range m.seen {
		for _, text := range s.job.Unfit {
			if !slices.Contains(m.job.Unfit, text) {
				m.job.Unfit = append(m.job.Unfit, text)
			}
		}
	}
}

// pause takes what a majority says of a pause; one that has the lock is known already.
func (m *merger) pause(held bool) {
	n := m.count(func(s masterView) bool { return s.job.Pause != nil })
	switch {
	case held || n == 0:
	case n < m.need:
		m.job.Pause = nil
		m.note("the pause: only %d of %d masters have it", n, m.size)
	default:
		for _, s := range m.seen {
			if s.job.Pause != nil {
				m.job.Pause = s.job.Pause
				return
			}
		}
	}
}

// ends says which masters may have a pause still that a majority has ended.
func (m *merger) ends() {
	var here, away []string
	for _, s := range m.seen {
		for _, end := range s.job.Ends {
			i := slices.IndexFunc(m.seen, func(s masterView) bool { return s.address == end.Master })
			switch {
			case end.Master == "":
			case i < 0 && len(m.seen) < m.size && !slices.Contains(away, end.Master):
				away = append(away, end.Master)
			case i >= 0 && m.seen[i].job.Pause != nil && m.seen[i].job.Pause.ID == end.ID &&
				!slices.Contains(here, end.Master):
				here = append(here, end.Master)
			}
		}
	}
	for _, master := range away {
		m.note("the resume: %s did not get it; repeat it when %s is back", master, master)
	}
	for _, master := range here {
		m.note("the resume: %s did not get it; the next run delivers it, or repeat it", master)
	}
}

// life is how long a lock goes on.
func life(j lock.Job) time.Duration {
	if j.Left < 0 {
		return math.MaxInt64
	}
	return j.Left
}

// union are the names of all masters, sorted.
func union(said []masterReply[[]string]) (names []string) {
	for _, s := range said {
		names = append(names, s.answer...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
