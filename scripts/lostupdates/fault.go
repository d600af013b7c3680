//go:build linux

package main

import (
	"context"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"
)

// outage is how long what is frozen, cut off or away stays so: longer than two leases.
const outage = 5 * time.Second

// clockStep is more than what is left of any lease.
const clockStep = 10 * time.Second

// A fault is what happens in a round, while one job, the victim, has read and not yet written.
type fault struct {
	name   string
	title  string                               // of its column
	inside bool                                 // redlockrun promises to lose nothing
	brief  bool                                 // part of the short form
	stores bool                                 // needs a store
	clock  bool                                 // needs a store whose clock can be pushed
	watch  bool                                 // needs sentinels
	on     side                                 // of the victim
	think  [2]float64                           // how many seconds the victim takes at least and at most
	after  float64                              // at most so many seconds of it have passed when the fault comes
	strike func(context.Context, *strike) error // and heals it; nil is no fault
}

// A strike is a fault under way.
type strike struct {
	place  *place
	victim int // the process of who holds the lock for the job, or of the job if there is no lock
	draw   *rand.Rand
}

// faults are in the order of the columns, those inside first.
func faults() []fault {
	long, soon := [2]float64{3, 6}, [2]float64{0.6, 2}
	return []fault{
		{name: "nothing", title: "nothing fails", inside: true, brief: true, think: long},
		{name: "frozen", title: "its holder is frozen", inside: true, brief: true, think: long, after: 0.5,
			strike: freezeHolder},
		{name: "killed", title: "its holder is killed", inside: true, brief: true, think: long, after: 0.5,
			strike: killHolder},
		{name: "cut", title: "its host is cut off", inside: true, brief: true, stores: true, on: far, think: long,
			after: 0.5, strike: cutOff},
		{name: "store-frozen", title: "the store is frozen", inside: true, brief: true, stores: true,
			think: long, after: 0.5, strike: freezeStore},
		{name: "store-killed", title: "the store is killed, and has its data again",
			inside: true, stores: true, think: long, after: 0.5, strike: killStore},
		{name: "host", title: "its host stands still", brief: true, think: soon, after: 0.2, strike: freezeHost},
		{name: "forgets", title: "the store loses its data", brief: true, stores: true, think: soon, after: 0.2,
			strike: emptyStore},
		{name: "clock", title: "the store's clock is pushed", stores: true, clock: true, think: soon, after: 0.2,
			strike: pushClock},
		{name: "failover", title: "a failover", stores: true, watch: true, think: long, after: 0.1, strike: failOver},
	}
}

// meets reports whether a row can meet a fault.
func (f fault) meets(r row, cables bool) bool {
	return (!f.stores || r.store != noStore) && (!f.clock && !f.watch || r.store == aRedis) && (!f.watch || cables)
}

func freezeHolder(ctx context.Context, s *strike) error {
	if err := unix.Kill(s.victim, unix.SIGSTOP); err != nil {
		return err
	}
	last(ctx, outage)
	return unix.Kill(s.victim, unix.SIGCONT)
}

func killHolder(_ context.Context, s *strike) error { return unix.Kill(s.victim, unix.SIGKILL) }

func cutOff(ctx context.Context, s *strike) error {
	if err := s.place.cut(); err != nil {
		return err
	}
	last(ctx, outage)
	return s.place.heal()
}

func freezeStore(ctx context.Context, s *strike) error {
	if err := s.place.freeze(unix.SIGSTOP); err != nil {
		return err
	}
	last(ctx, outage)
	return s.place.freeze(unix.SIGCONT)
}

func killStore(ctx context.Context, s *strike) error {
	s.place.kill()
	last(ctx, time.Duration(s.draw.Int64N(int64(outage))))
	return s.place.restart(ctx, true)
}

func emptyStore(ctx context.Context, s *strike) error { return s.place.restart(ctx, false) }

// freezeHost stops the victim with all that belongs to it, and lets it go on in any order.
func freezeHost(ctx context.Context, s *strike) error {
	var stopped []int
	for again := true; again; { // who was forked meanwhile is stopped, too
		all := family(s.victim)
		again = len(all) != len(stopped)
		stopped = all
		for _, pid := range all {
			_ = unix.Kill(pid, unix.SIGSTOP)
		}
	}
	last(ctx, outage)
	for _, i := range s.draw.Perm(len(stopped)) {
		_ = unix.Kill(stopped[i], unix.SIGCONT)
	}
	return nil
}

// pushClock never sets the clock back: locks would live for longer, and fences would shrink.
func pushClock(_ context.Context, s *strike) error {
	s.place.ahead += clockStep
	return s.place.clock.Push(s.place.ahead)
}

// failOver cuts the far side off, which makes its replica the master, and joins the two again
// when jobs have run on both sides.
func failOver(ctx context.Context, s *strike) error {
	if err := s.place.cut(); err != nil {
		return err
	}
	sentinels := s.place.watch.Sentinels
	if _, err := s.place.watch.Failover(sentinels[1], sentinels[2]); err != nil {
		return err
	}
	last(ctx, outage)
	return s.place.heal()
}

// last waits; it is no wait for anything but the time.
func last(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
