package simulation

import (
	"time"

	"redlockrun/internal/lock"
)

// close looks at what is left when all clients are gone.
func (r *referee) close() {
	if r.world.permits > 0 {
		r.closePermits()
		return
	}
	for _, m := range r.world.servers {
		m.mended()
		if m.down {
			m.start(true)
		}
	}
	r.ledger()
	r.slotsKept()
	r.enteredActs()
	time.Sleep(r.world.longestLease())
	for _, m := range r.world.servers {
		if value, found := m.server.Get(r.keys.Lock); found {
			r.breach("end: all are gone, and s%d has %.60s", m.number, value)
		}
	}
	time.Sleep(91 * 24 * time.Hour)
	for _, m := range r.world.servers {
		if n := do(m.server, "DBSIZE"); n != int64(0) {
			r.breach("end: s%d keeps %v keys for ever: %v", m.number, n, do(m.server, "KEYS", "*"))
		}
	}
}

// longestLease is after how long every lease is over, and every rest for --min-hold.
func (p *plan) longestLease() (d time.Duration) {
	for _, h := range p.hosts {
		for _, t := range h.ticks {
			d = max(d, t.minHold)
		}
	}
	return d + 2*p.times.TTL + time.Minute
}

// ledger: what runs have said of their ends, the one server has entered, each once.
func (r *referee) ledger() {
	switch {
	case r.world.machines > 1:
		r.ledgerOfQuorum()
		return
	case r.world.forgetful():
		return
	}
	entered := r.entries(r.world.servers[0])
	full := r.isFull(r.world.servers[0])
	for _, run := range r.ordered {
		said := entered[run.id]
		told := run.hasTold()
		// Of several entries the latest is right, and stands first: a report that was repeated, or came late, adds one.
		if told && (len(said) == 0 && !full || len(said) > 0 && said[0].End != run.how && !run.mayEnd(said[0].End)) {
			r.breach("ledger: %s has ended (%s), and what is entered is %v", run.id, run.how, said)
		}
		r.isMissed(run, said)
		for _, e := range said {
			if e.End != lock.EndVanished && e.End != run.how && !run.mayEnd(e.End) {
				r.breach("ledger: %s has ended (%s), and is entered as %v", run.id, run.how, said)
			}
			r.isTrue(run, e)
		}
	}
	r.areKnown(0, entered)
}

// hasTold reports whether a run has said how it ended, and nothing has kept a server from entering that.
func (run *record) hasTold() bool {
	return run.released && run.err == nil && run.how != "" && !run.dead && !run.silenced
}

// areKnown: nobody is entered by the n-th server who was not.
func (r *referee) areKnown(n int, entered map[string][]lock.Entry) {
	for run, said := range entered {
		if r.runs[run] == nil {
			r.breach("ledger: %s is entered by s%d, and nobody is that: %v", run, n, said)
		}
	}
}
