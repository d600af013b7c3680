package simulation

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/permits"
)

var permitSeeds = flag.Int("permits", 60, "simulate so many seeds of worlds in which the job has permits")

// permitPlan is the plan of a seed for a world in which the job has permits: without what a run with permits cannot
// have, and without anybody at the desk.
func permitPlan(seed uint64) *plan {
	p := planOf(seed)
	p.permits, p.desk = 2+streamOf(seed, "permits").IntN(5), desk{keeps: p.keeps}
	for n, host := range p.hosts {
		for i := range host.ticks {
			t := &host.ticks[i]
			t.slot, t.minHold, t.continues, t.ignores = "", 0, false, false
			t.claim = p.claimOf(streamOf(seed, "claim %d %d", n, i))
		}
	}
	return p
}

// claimOf is what a run takes; a few say another number of permits, but none a larger one.
func (p *plan) claimOf(s stream) permits.Claim {
	c := permits.Claim{Of: p.permits, Take: 1}
	if s.chance(0.1) {
		c.Of = 1 + s.IntN(p.permits)
	}
	switch {
	case s.chance(0.2):
		c.All = true
	case s.chance(0.4):
		c.Take = 1 + s.IntN(c.Of)
	}
	return c
}

// withPermits is the store of a run of a world with permits.
func (p *process) withPermits(of lock.Store) lock.Store {
	c, rounds := p.tick.claim, 0
	c.NewRun = func() string {
		rounds++
		return p.client.runID(100_000 + 1000*rounds + p.number)
	}
	return permits.New(of, c)
}

// hearOfPermits judges what a client of a world with permits says: the commands that run have no more
// permits than there are, and one that runs alone is alone.
func (r *referee) hearOfPermits(run *record, n news) {
	switch n.kind {
	case begins:
		run.lease = n.lease
	case starts:
		r.running = append(r.running, run)
		if !n.at.Before(run.lease.Until()) {
			r.breach("validity: %s starts after the end of its lease", run.id)
		}
		r.countPermits(run)
	case ends:
		r.running = slices.DeleteFunc(r.running, func(other *record) bool { return other == run })
		if n.at.After(run.lease.Until()) {
			r.breach("validity: the command of %s outlives its lease by %v", run.id, n.at.Sub(run.lease.Until()))
		}
	}
}

func (r *referee) countPermits(last *record) {
	if r.world.outside {
		return
	}
	used := map[int]string{}
	for _, run := range r.running {
		numbers := run.lease.(permits.Lease).Permits()
		if run.tick.claim.All {
			numbers = nil
			for n := range r.world.permits {
				numbers = append(numbers, n+1)
			}
		}
		for _, n := range numbers {
			if other := used[n]; other != "" || n > r.world.permits {
				r.breach("permits: %s starts, and %s and %s have permit %d of %d", last.id, run.id, other, n,
					r.world.permits)
			}
			used[n] = run.id
		}
	}
}

// closePermits looks whether anything is left of permits when each lease is long over.
func (r *referee) closePermits() {
	for _, m := range r.world.servers {
		m.mended()
		if m.down {
			m.start(true)
		}
	}
	time.Sleep(r.world.longestLease() + time.Minute)
	for n, m := range r.world.servers {
		for _, lockName := range append(lock.PermitsOf(jobName, lock.MostPermits), lock.GateOf(jobName)) {
			name, part := lock.SplitPart(lockName)
			if value, found := m.server.Get(lock.DefaultPrefix + "{" + name + "}/" + part); found {
				r.breach("end: s%d has %s: %s", n, part, value)
			}
		}
	}
}

// TestSeedsWithPermits: in no world do more commands run than there are permits, or beside one that runs
// alone, or for ever.
func TestSeedsWithPermits(t *testing.T) {
	t.Parallel()
	began, started := time.Now(), 0
	for seed := range uint64(*permitSeeds) {
		v := simulatePlan(t, seed+*first, permitPlan(seed+*first))
		for _, text := range v.wrong {
			t.Errorf("seed %d: %s", v.seed, text)
		}
		if started += strings.Count(v.history, " starts "); t.Failed() {
			t.Fatal(permitPlan(v.seed), v.history)
		}
	}
	if started == 0 {
		t.Error("no command was started")
	}
	t.Logf("%d worlds with permits, %d commands, in %s", *permitSeeds, started, time.Since(began))
}
