// Package ledgers makes up jobs and their ledgers for tests of what is shown of them.
package ledgers

import (
	"math/rand/v2"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// A Generator draws jobs as a store may return them: running, ended, and overwritten by other
// programs.
type Generator struct{ *rand.Rand }

// New returns a generator that draws the same for the same seed.
func New(seed uint64) *Generator { return &Generator{rand.New(rand.NewPCG(seed, 0))} }

func OneOf[T any](g *Generator, all ...T) T { return all[g.IntN(len(all))] }

// Often is true in percent of 100 cases.
func (g *Generator) Often(percent int) bool { return g.IntN(100) < percent }

func (g *Generator) run() string { return Run(byte('A' + g.IntN(26))) }

// Text draws a text, often one that would break a format that does not escape it.
func (g *Generator) Text() string {
	return OneOf(g, "web-1", "web-2", "", "a|b", "it's", "x=1;2", "<b>&amp;", "\"\\", "\x1b[2J", "\n# TYPE x counter\n",
		"\xff\xfe", "日本", "\u009b", "%41")
}

// ago draws an instant, mostly in the past.
func (g *Generator) ago() time.Time {
	switch {
	case g.Often(8):
		return time.Time{}
	case g.Often(4):
		return Now.Add(time.Duration(g.IntN(3600)) * time.Second) // the clock was set back
	}
	return Now.Add(-time.Duration(g.IntN(48*3600*1000)) * time.Millisecond)
}

func (g *Generator) entry(hows ...lock.EndKind) lock.Entry {
	e := lock.Entry{
		Run: g.run(), Host: g.Text(), User: g.Text(), PID: g.IntN(1 << 20), Command: g.Text(), Slot: g.Text(),
		Attempts: g.IntN(4), Fence: g.Int64N(1 << 53), Asked: g.ago(), At: g.ago(), Ended: g.ago(),
		End: OneOf(g, hows...), Status: g.IntN(300) - 2, Lost: g.Often(5),
	}
	if g.Often(5) {
		e.End, e.Act, e.Reason = "", OneOf(g, lock.ActPause, lock.ActResume, lock.ActStop, lock.ActUnlock), g.Text()
	}
	if g.Often(5) {
		e.Stood = time.Duration(g.IntN(90_000)) * time.Millisecond
	}
	return e
}

// written returns the entry as a store would return it.
func written(e lock.Entry) lock.Entry {
	read, _ := wire.ReadEntry(wire.EntryText(e))
	return read
}

func (g *Generator) ended() lock.Entry {
	hows := append(lock.EndKinds(), lock.EndOk, lock.EndOk, lock.EndOk, lock.EndOk, lock.EndOk, lock.EndOk, lock.EndOk,
		lock.EndOk)
	if g.Often(3) {
		hows = []lock.EndKind{"", "new\x1b"}
	}
	return written(g.entry(hows...))
}

func (g *Generator) holder() lock.Holder {
	if g.Often(8) {
		return lock.Holder{Foreign: g.Text()}
	}
	h := lock.Holder{
		Run: g.run(), Host: g.Text(), User: g.Text(), Command: g.Text(), PID: g.IntN(1 << 20),
		TTL: time.Minute, Every: 20 * time.Second,
	}
	if g.Often(10) {
		h.Ended = g.ago()
	}
	return h
}

// Job draws a job with its ledger.
func (g *Generator) Job() lock.Job {
	j := lock.Job{Name: OneOf(g, "orders", "report", "") + g.Text(), Now: Now, Waiting: g.IntN(5)}
	g.past(&j)
	if g.Often(30) {
		g.expect(&j)
	}
	if g.Often(25) {
		j.Pause = &lock.PauseMark{By: g.Text(), Reason: g.Text(), Since: g.ago(), Until: g.ago()}
	}
	if g.Often(40) {
		g.hold(&j)
	} else {
		j.State = wire.StateOfFree(&j)
	}
	if g.Often(5) {
		j.State, j.Unread = OneOf(g, j.State, ""), []string{"the lock: " + g.Text()}
	}
	if g.Often(2) {
		j.Now, j.Unread = time.Time{}, []string{"the time: the user may not use TIME"}
	}
	return j
}

// expect draws how old the last success may become, and when the job was paused.
func (g *Generator) expect(j *lock.Job) {
	j.MaxAge, j.MaxAgeSince = time.Duration(g.IntN(48*3600))*time.Second, g.ago()
	for range g.IntN(4) {
		p := lock.PauseSpan{ID: g.run(), Since: g.ago(), Until: g.ago()}
		if g.Often(70) {
			p.Until = p.Since.Add(time.Duration(g.IntN(8*3600)) * time.Second)
		}
		j.Pauses = append(j.Pauses, p)
	}
}

// hold draws a holder of the lock: a run, a pause, or another program.
func (g *Generator) hold(j *lock.Job) {
	j.Left = time.Duration(g.IntN(60000)-2000) * time.Millisecond
	if j.Pause != nil && g.Often(50) {
		j.State = wire.StateOfHeld(j, true)
		return
	}
	j.Holder, j.At, j.Fence = g.holder(), g.ago(), g.Int64N(1<<53)
	if j.Holder.Run != "" && g.Often(70) {
		j.Open = lock.Entry{Run: j.Holder.Run, Host: j.Holder.Host, At: j.At, Status: -1}
	}
	j.State = wire.StateOfHeld(j, false)
}

// past draws the ledger.
func (g *Generator) past(j *lock.Job) {
	if g.Often(80) {
		j.Counts = map[lock.EndKind]int64{}
	}
	if g.Often(10) {
		j.Open = lock.Entry{Run: g.run(), Host: g.Text(), At: g.ago(), Status: -1}
	}
	if g.Often(15) {
		return // no run has ended
	}
	for _, how := range lock.EndKinds() {
		if j.Counts != nil && g.Often(50) {
			j.Counts[how] = g.Int64N(100)
		}
	}
	var runs []string
	for range g.IntN(7) {
		runs = append(runs, wire.EntryText(g.ended()))
	}
	j.Runs, _ = wire.ReadEntries(runs)
	j.LastEnd = g.ended()
	if len(j.Runs) > 0 && g.Often(80) {
		j.LastEnd = j.Runs[0]
	}
	if g.Often(80) {
		j.LastSuccess = written(g.entry(lock.EndOk))
	}
	j.Mean = time.Duration(g.IntN(1e6)) * time.Millisecond
}

// Jobs draws at most so many jobs.
func (g *Generator) Jobs(most int) (jobs []lock.Job) {
	for range g.IntN(most + 1) {
		jobs = append(jobs, g.Job())
	}
	return jobs
}
