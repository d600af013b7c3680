package quorum

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
)

// What the masters say to a renewal, and what that means.
func TestARenewalIsHeldLostOrUnknown(t *testing.T) {
	for _, test := range []struct {
		says string // of each server: yes, no, other's, frozen
		want error
		held bool
	}{
		{"yyyyy", nil, true}, {"yyynn", nil, true}, {"yyyff", nil, true}, {"yyyoo", nil, true},
		{"yynff", nil, false}, {"yyfff", nil, false}, {"fffff", nil, false}, {"nnfff", nil, false},
		{"yynnn", lock.ErrLost, false}, {"nnnff", lock.ErrLost, false}, {"nnnnn", lock.ErrLost, false},
		{"yyooo", lock.ErrTaken, false}, {"noofy", lock.ErrTaken, false}, {"ooooo", lock.ErrTaken, false},
	} {
		t.Run(test.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testRenewal(t, test.says, test.want, test.held) })
		})
	}
}

func testRenewal(t *testing.T, says string, want error, held bool) {
	q, servers := newSim(t, 5, way)
	l := locktest.Acquire(t, q, locktest.RequestFor("job"))
	for i, s := range servers {
		switch says[i] {
		case 'n':
			s.lose()
		case 'o':
			s.grab("other", time.Hour)
		case 'f':
			s.freeze()
		}
	}
	before := l.Until()
	time.Sleep(time.Second)
	until, err := l.Renew(locktest.Limited(t, 2*time.Second))
	switch {
	case held:
		if err != nil || until.Sub(before) < 900*time.Millisecond {
			t.Errorf("renewed until %s later, %v", until.Sub(before), err)
		}
	case want == nil:
		if err == nil || errors.Is(err, lock.ErrLost) {
			t.Errorf("got %v, want an error that can be tried again", err)
		}
	case !errors.Is(err, lock.ErrLost) || errors.Is(err, lock.ErrTaken) != (want == lock.ErrTaken):
		t.Errorf("got %v, want %v", err, want)
	}
	if !held && until != before {
		t.Errorf("the lease moved by %s without being renewed", until.Sub(before))
	}
	for i, s := range servers {
		if says[i] == 'f' {
			s.thaw()
		}
	}
	l.Release(t.Context(), lock.ReleaseRequest{})
	for i, s := range servers {
		if owner := s.holder(); (says[i] == 'o') != (owner == "other") {
			t.Errorf("%s ends with %q", s.name, owner)
		}
	}
}

func TestServersAreRepairedOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 5, way)
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, q, req)
		for round := range 20 {
			servers[round%5].lose()
			servers[round%5].set(func() { servers[round%5].counter = 0 })
			time.Sleep(time.Second)
			if _, err := l.Renew(locktest.Limited(t, 2*time.Second)); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			time.Sleep(trip + time.Millisecond)
			if s := servers[round%5]; s.holder() != req.Holder.Run || s.fence() < l.Fence() {
				t.Fatalf("round %d: %s has %q, %d", round, s.name, s.holder(), s.fence())
			}
		}
		if err := l.Release(t.Context(), lock.ReleaseRequest{}); err != nil {
			t.Error(err)
		}
		nothingOf(t, req.Holder.Run, servers)
	})
}

func TestNothingIsRepairedWithoutAMajority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 5, way)
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, q, req)
		servers[0].lose()
		servers[1].freeze()
		servers[2].freeze()
		if _, err := l.Renew(locktest.Limited(t, 2*time.Second)); err == nil || errors.Is(err, lock.ErrLost) {
			t.Errorf("two of five: %v", err)
		}
		time.Sleep(time.Second)
		if servers[0].holder() != "" {
			t.Error("a server was repaired without a majority")
		}
		servers[1].lose() // when it is thawed it has forgotten
		servers[1].thaw()
		if _, err := l.Renew(locktest.Limited(t, 2*time.Second)); err == nil {
			t.Error("a lease was renewed that two of five have")
		}
		servers[2].thaw()
		l.Release(t.Context(), lock.ReleaseRequest{})
	})
}

// The fault that the model found in the obvious design: a repairing arrives when
// the lease is over and somebody else has come and gone.
func TestALateRepairDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, q, req)
		servers[2].lose()
		servers[2].before = func(what string) {
			if what == "repair" {
				panic("repaired in time")
			}
		}
		renew := func() error {
			_, err := l.Renew(locktest.Limited(t, 2*time.Second))
			return err
		}
		servers[2].freeze()
		if err := renew(); err != nil { // does not know yet
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		servers[2].set(func() { servers[2].late = nil })
		servers[2].before = nil
		servers[2].thaw()
		servers[2].freeze()
		if err := renew(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		time.Sleep(2 * req.Times.TTL) // the lease is over
		other := locktest.RequestFor("job")
		locktest.Acquire(t, q, other).Release(t.Context(), lock.ReleaseRequest{})
		servers[2].thaw() // the order to repair arrives
		synctest.Wait()
		servers[0].grab(req.Holder.Run, time.Hour) // as if it had never lapsed there
		if err := renew(); !errors.Is(err, lock.ErrLost) {
			t.Errorf("after somebody else's run the renewal says %v", err)
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
	})
}

func TestARepairAfterTheLeaseDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, q, req).(*quorumLease)
		l.dropKey(0)
		l.until = boottime.Now().Add(-time.Second)
		l.setKey(0, l.nextTerm())
		if _, counts := l.keyAt(0); counts {
			t.Error("a key counts that was made after the end of the lease")
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
		nothingOf(t, req.Holder.Run, servers)
	})
}
