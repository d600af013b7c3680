package simulation

import (
	"errors"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
	lockwire "redlockrun/internal/lock/wire"
)

// acts are those of operators, as far as the referee knows of them.
type acts struct {
	pauses   []*pausing
	changes  map[*process]*changing
	rested   bool // the machine had a pause, before the step that is made
	silenced bool // a command of the ledger was refused to one of them
}

// A pausing is a pause.
type pausing struct {
	process *process
	id      string
	sent    time.Time
	known   time.Time       // when somebody was told that it is; zero: nobody was
	ends    time.Time       // at the earliest; zero: never by itself
	over    bool            // a resume has reached a server since: from then on it may have ended
	holders map[string]bool // who had the lock of a server when it was known
}

// A changing is a change that was sent.
type changing struct {
	lock.Change
	deed   *deed
	sent   time.Time
	could  map[string]map[int]bool // of which machines each run has had the lock since
	absent bool                    // a machine could not answer at some moment since
	made   bool                    // somebody was told that it was
	done   bool                    // by this very change
}

// meddled is what operators have done to a run.
type meddled struct {
	freed     bool // its lock was taken away: it does not know, and another may run
	everFreed bool
	mayStop   bool // it was marked
	told      int  // how often it has heard of that
}

// mayEnd reports whether operators have made an end of a run that it does not know itself.
func (run *record) mayEnd(how lock.EndKind) bool {
	return how == lock.EndUnlocked && run.everFreed || how == lock.EndStopped && run.mayStop && !run.started
}

// hearDeed takes in what is done at the desk.
func (r *referee) hearDeed(c *client, n news) {
	r.world.note("c%d %s %s %s%s", c.number, n.run, c.deed.kind, n.kind, kindOf(n.err))
	switch n.kind {
	case actsNow:
		r.sends(n, c.deed)
	case acted:
		r.made(n)
	case hasRead:
		if n.err == nil {
			r.read(n.process, n.job)
		}
	}
}

func (r *referee) sends(n news, d *deed) {
	if r.changes == nil {
		r.changes = make(map[*process]*changing)
	}
	r.changes[n.process] = &changing{Change: n.change, deed: d, sent: n.at, could: make(map[string]map[int]bool)}
	r.majority()
	if n.change.Act != lock.ActPause && !n.change.ThenPause {
		return
	}
	p := &pausing{process: n.process, id: n.run, sent: n.at}
	if n.change.For != lock.Forever {
		p.ends = n.at.Add(n.change.For * 98 / 100)
	}
	r.pauses = append(r.pauses, p)
}

// made: a change is as its command says.
func (r *referee) made(n news) {
	if n.err != nil || r.world.outside || r.world.forgetful() {
		return
	}
	c := r.changes[n.process]
	c.made, c.done = true, n.changed.Done
	switch n.change.Act {
	case lock.ActResume:
		r.isResumed(c)
	case lock.ActStop:
		r.mustStop(n)
	}
	if pause := n.changed.Pause; pause != nil && n.change.Act != lock.ActResume {
		r.isPaused(pause.ID, n.at)
	}
}

// isPaused: from now on nobody is given the lock but who has it.
func (r *referee) isPaused(id string, at time.Time) {
	for _, p := range r.pauses {
		if p.id != id || !p.known.IsZero() {
			continue
		}
		p.known, p.holders = at, make(map[string]bool)
		for _, m := range r.world.servers {
			p.holders[r.holding(m).holder] = true
		}
	}
}

// inForce reports whether a pause is for certain.
func (p *pausing) inForce() bool {
	return !p.known.IsZero() && !p.over && (p.ends.IsZero() || time.Now().Before(p.ends))
}

// pausedGrant: who is given the lock of the one server under a pause does not care for pauses. It reports whether that
// is why it comes before others.
func (r *referee) pausedGrant(run *record) (ignores bool) {
	for _, p := range r.pauses {
		if p.inForce() && !run.tick.ignores && !r.world.forgetful() {
			r.breach("pause: %s is given the lock under %s", run.id, p.id)
		}
	}
	return run.tick.ignores && r.rested
}

// pausedStart: nobody begins under a pause who had nothing when it was known.
func (r *referee) pausedStart(run *record) {
	for _, p := range r.pauses {
		if p.inForce() && !run.tick.ignores && !run.freed && !p.holders[run.id] && !r.world.outside &&
			!r.world.forgetful() {
			r.breach("pause: %s starts under %s", run.id, p.id)
		}
	}
}

// isResumed: no pause that was known before is there any more.
func (r *referee) isResumed(c *changing) {
	for _, p := range r.pauses {
		n := 0
		for _, m := range r.world.servers {
			wanted, _ := m.server.Get(r.keys.Paused)
			if strings.Contains(r.holding(m).value+wanted, `{"pause":"`+p.id) {
				n++
			}
		}
		if !p.known.IsZero() && p.known.Before(c.sent) && n > r.world.machines/2 && !p.process.disturbed {
			r.breach("pause: %s has been resumed, and is there at %d", p.id, n)
		}
	}
}

// deeds takes in what a step has changed.
func (r *referee) deeds(x *wire) {
	r.majority()
	c := r.changes[x.process]
	if c == nil {
		return
	}
	before, now := r.was, r.holding(x.machine)
	switch run := r.runs[before.holder]; {
	case c.Act == lock.ActResume:
		for _, p := range r.pauses {
			p.over = true
		}
	case run == nil:
	case c.Act == lock.ActUnlock && now.holder != before.holder:
		r.isFreed(run, c)
	case c.Act == lock.ActStop && now.holder == before.holder && now.isMarked() && !before.isMarked():
		r.isMarked(run, c, x)
	}
}

// isMarked reports whether the lock's record has the mark of a stop.
func (s *standing) isMarked() bool { return strings.Contains(s.value, `"stop":"`) }

// frees reports whether a step is that of an operator who takes the lock from this run.
func (r *referee) frees(x *wire, run string) bool {
	c := r.changes[x.process]
	return c != nil && c.Act == lock.ActUnlock && c.Run == run
}

// isFreed: an operator who does not use force frees the lock of nobody whose command may live.
func (r *referee) isFreed(run *record, c *changing) {
	if c.Run != run.id {
		r.breach("owner: %s is freed, and %s was meant", run.id, c.Run)
	}
	if c.deed.kind == unlocks && !run.left && !run.process.over {
		r.breach("unlock: %s is freed, and may run", run.id)
	}
	run.freed, run.everFreed = true, true
}

// majority takes in who has the lock of which servers while an operator stops whoever has it: each is asked at a
// moment of its own.
func (r *referee) majority() {
	for _, c := range r.changes {
		if c.Act != lock.ActStop || c.made {
			continue
		}
		for n, m := range r.world.servers {
			c.absent = c.absent || m.down || m.wasPolling()
			holder := r.holding(m).holder
			if c.could[holder] == nil {
				c.could[holder] = make(map[int]bool)
			}
			c.could[holder][n] = true
		}
	}
}

// isMarked: who is marked was meant.
func (r *referee) isMarked(run *record, c *changing, x *wire) {
	run.mayStop = true
	could := len(c.could[run.id]) > r.world.machines/2 || c.absent || x.process.disturbed
	meant := c.Run == run.id || c.Run == "" && could
	if !meant && !r.world.outside {
		r.breach("stop: %s is marked, and has no majority", run.id)
	}
}

// toldToStop: a run is told once, if it was marked.
func (r *referee) toldToStop(run *record) {
	if run.told++; run.told > 1 {
		r.breach("stop: %s is told %d times", run.id, run.told)
	}
	if !run.mayStop {
		r.breach("stop: %s is told, and nobody has stopped it", run.id)
	}
}

func (r *referee) isStopped(run *record, err error) {
	if errors.As(err, new(*lock.StoppedError)) {
		r.toldToStop(run)
	}
}

// messageDelay is how long the messages take by which a run learns of a stop.
const messageDelay = 500 * time.Millisecond

// mustStop: who is marked ends within a renewal and its grace.
func (r *referee) mustStop(n news) {
	run := r.runs[n.changed.Holder.Run]
	if run == nil || !n.changed.Done {
		return
	}
	t := r.world.times
	due := n.at.Add(t.Renew + t.Grace + t.Margin + messageDelay)
	r.world.schedule(r.world.in(refereeLane, due), func() {
		unreachable := slices.ContainsFunc(r.world.servers,
			func(m *machine) bool { return m.still.After(n.at.Add(-t.TTL)) || m.down })
		if slices.Contains(r.running, run) && !run.disturbed && !run.freed && !unreachable {
			r.breach("stop: %s runs on, %v after it was stopped", run.id, time.Since(n.at))
		}
	})
}

// enteredActs: what was done is entered, and counted among no bad ends.
func (r *referee) enteredActs() {
	if r.world.machines > 1 || r.world.forgetful() || r.world.refuses() {
		return
	}
	entries := make(map[string]int)
	list := texts(do(r.world.servers[0].server, "LRANGE", r.keys.Runs, 0, -1))
	for _, line := range list {
		if e, ok := lockwire.ReadEntry(line); ok && e.Act != "" {
			entries[e.Run]++
		}
	}
	for p, c := range r.changes {
		n, most := entries[c.By.Run], 1
		if c.ThenPause {
			most = 2
		}
		if p.disturbed {
			continue // a pause that ends between two tries of it is made twice
		}
		if c.made && c.done && n == 0 && len(list) < r.world.keeps || n > most {
			r.breach("ledger: %s was done (%v), and is entered %d times", c.Act, c.done, n)
		}
	}
	for _, line := range texts(do(r.world.servers[0].server, "LRANGE", r.keys.Bad, 0, -1)) {
		if e, _ := lockwire.ReadEntry(line); e.Act != "" || e.End == lock.EndOk {
			r.breach("ledger: among the bad is %q", line)
		}
	}
}
