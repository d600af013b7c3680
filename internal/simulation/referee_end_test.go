package simulation

import (
	"fmt"
	"time"

	"redlockrun/internal/lock"
)

// close looks at what is left when all clients are gone.
func (r *referee) close() {
	for _, m := range r.world.servers {
		if m.down {
			m.start(true)
		}
	}
	r.ledger()
	time.Sleep(2*r.world.times.TTL + longestRest(r.world.plan) + time.Minute)
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

func longestRest(p *plan) (d time.Duration) {
	for _, h := range p.hosts {
		for _, t := range h.ticks {
			d = max(d, t.minHold)
		}
	}
	return d
}

// ledger: what runs have said of their ends, the one server has entered, each once.
func (r *referee) ledger() {
	if r.world.machines > 1 || r.world.forgetful() {
		return
	}
	entered := make(map[string][]lock.How)
	for _, line := range texts(do(r.world.servers[0].server, "LRANGE", r.keys.Runs, 0, -1)) {
		if e, ok := lock.ReadEntry(line); ok {
			entered[e.Run] = append(entered[e.Run], e.How)
		} else {
			r.breach("ledger: %q is no entry", line)
		}
	}
	for _, run := range r.ordered {
		said := entered[run.id]
		told := run.released && run.err == nil && run.how != "" && !run.dead
		// Of several entries the latest is right, and stands first: a report that was repeated, or came late, adds one.
		if told && (len(said) == 0 || said[0] != run.how) {
			r.breach("ledger: %s has ended (%s), and what is entered is %v", run.id, run.how, said)
		}
		for _, how := range said {
			if how != lock.Vanished && how != run.how {
				r.breach("ledger: %s has ended (%s), and is entered as %v", run.id, run.how, said)
			}
		}
	}
	for run := range entered {
		if r.runs[run] == nil {
			r.breach("ledger: %s is entered, and nobody is that: %s", run, fmt.Sprint(entered[run]))
		}
	}
}
