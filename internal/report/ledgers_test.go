package report

import (
	"math/rand/v2"
	"strings"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// A ledgerer makes jobs up as they may be read: what runs, what ended, and what others have
// written in the place of it.
type ledgerer struct {
	*rand.Rand
	now time.Time
}

func newLedgerer(seed uint64) *ledgerer { return &ledgerer{rand.New(rand.NewPCG(seed, 0)), now} }

func oneOf[T any](l *ledgerer, all ...T) T { return all[l.IntN(len(all))] }

// often is true in so many of a hundred.
func (l *ledgerer) often(percent int) bool { return l.IntN(100) < percent }

func (l *ledgerer) run() string { return run(byte('A' + l.IntN(26))) }

// text is one that would like to be more than a text.
func (l *ledgerer) text() string {
	return oneOf(l, "web-1", "web-2", "", "a|b", "it's", "x=1;2", "<b>&amp;", "\"\\", "\x1b[2J", "\n# TYPE x counter\n",
		"\xff\xfe", "日本", "\u009b", "%41")
}

// ago is an instant that has passed, mostly.
func (l *ledgerer) ago() time.Time {
	switch {
	case l.often(8):
		return time.Time{}
	case l.often(4):
		return now.Add(time.Duration(l.IntN(3600)) * time.Second) // by a clock that was set back
	}
	return now.Add(-time.Duration(l.IntN(48*3600*1000)) * time.Millisecond)
}

func (l *ledgerer) entry(hows ...lock.How) lock.Entry {
	e := lock.Entry{
		Run: l.run(), Host: l.text(), User: l.text(), PID: l.IntN(1 << 20), Command: l.text(), Slot: l.text(), Attempts: l.IntN(4),
		Fence: l.Int64N(1 << 53), Asked: l.ago(), At: l.ago(), Ended: l.ago(), How: oneOf(l, hows...), Status: l.IntN(300) - 2, Lost: l.often(5),
	}
	if l.often(5) {
		e.How, e.Event, e.Why = "", oneOf(l, lock.Paused, lock.Resumed, lock.Halted, lock.Freed), l.text()
	}
	return e
}

// written is the entry as a store would give it back.
func written(e lock.Entry) lock.Entry {
	read, _ := wire.ReadEntry(wire.EntryText(e))
	return read
}

func (l *ledgerer) ended() lock.Entry {
	hows := append(lock.Hows(), lock.Ok, lock.Ok, lock.Ok, lock.Ok, lock.Ok, lock.Ok, lock.Ok, lock.Ok)
	if l.often(3) {
		hows = []lock.How{"", "new\x1b"}
	}
	return written(l.entry(hows...))
}

func (l *ledgerer) holder() lock.Holder {
	if l.often(8) {
		return lock.Holder{Foreign: l.text()}
	}
	h := lock.Holder{
		Run: l.run(), Host: l.text(), User: l.text(), Command: l.text(), PID: l.IntN(1 << 20), TTL: time.Minute, Every: 20 * time.Second,
	}
	if l.often(10) {
		h.Ended = l.ago()
	}
	return h
}

// job is one with a random ledger.
func (l *ledgerer) job() lock.Job {
	j := lock.Job{Name: oneOf(l, "orders", "report", "") + l.text(), Now: l.now, Waiting: l.IntN(5)}
	l.past(&j)
	if l.often(25) {
		j.Pause = &lock.PauseMark{By: l.text(), Why: l.text(), Since: l.ago(), Until: l.ago()}
	}
	if l.often(40) {
		l.hold(&j)
	} else {
		j.State = wire.StateOfFree(&j)
	}
	if l.often(5) {
		j.State, j.Unread = oneOf(l, j.State, ""), []string{"the lock: " + l.text()}
	}
	if l.often(2) {
		j.Now, j.Unread = time.Time{}, []string{"the time: the user may not use TIME"}
	}
	return j
}

// hold lets somebody have the lock: a run, a pause, or what is neither.
func (l *ledgerer) hold(j *lock.Job) {
	j.Left = time.Duration(l.IntN(60000)-2000) * time.Millisecond
	if j.Pause != nil && l.often(50) {
		j.State = wire.StateOfHeld(j, true)
		return
	}
	j.Holder, j.At, j.Fence = l.holder(), l.ago(), l.Int64N(1<<53)
	if j.Holder.Run != "" && l.often(70) {
		j.Open = lock.Entry{Run: j.Holder.Run, Host: j.Holder.Host, At: j.At, Status: -1}
	}
	j.State = wire.StateOfHeld(j, false)
}

// past fills in the ledger.
func (l *ledgerer) past(j *lock.Job) {
	if l.often(80) {
		j.Counts = map[lock.How]int64{}
	}
	if l.often(10) {
		j.Open = lock.Entry{Run: l.run(), Host: l.text(), At: l.ago(), Status: -1}
	}
	if l.often(15) {
		return // it has never ended
	}
	for _, how := range lock.Hows() {
		if j.Counts != nil && l.often(50) {
			j.Counts[how] = l.Int64N(100)
		}
	}
	var runs []string
	for range l.IntN(7) {
		runs = append(runs, wire.EntryText(l.ended()))
	}
	j.Runs, _ = wire.ReadEntries(runs)
	j.Last = l.ended()
	if len(j.Runs) > 0 && l.often(80) {
		j.Last = j.Runs[0]
	}
	if l.often(80) {
		j.Good = written(l.entry(lock.Ok))
	}
	j.Mean = time.Duration(l.IntN(1e6)) * time.Millisecond
}

func (l *ledgerer) jobs(most int) (jobs []lock.Job) {
	for range l.IntN(most + 1) {
		jobs = append(jobs, l.job())
	}
	return jobs
}

// rules are some that a job may be held to.
func (l *ledgerer) rules() (r Rules) {
	limit := func() time.Duration {
		if l.often(60) {
			return 0
		}
		return time.Duration(1+l.IntN(72*3600)) * time.Second
	}
	r = Rules{MaxAge: limit(), WarnAge: limit(), MaxRuntime: limit()}
	if l.often(40) {
		r.MaxFailures = 1 + l.IntN(4)
	}
	return r
}

// plainText reports whether a text has one line, and nothing that steers a terminal.
func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}
