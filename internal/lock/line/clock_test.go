package line_test

import (
	"errors"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// Redis counts a ttl on the wall clock of its host.
func TestAServerClockSetForwardEndsItsLeases(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T, redistest.Options) place{
		"one server": func(t *testing.T, opts redistest.Options) place {
			s := redistest.Start(t, opts)
			return serverPlace(s, s.URL())
		},
		"Sentinel": func(t *testing.T, opts redistest.Options) place {
			return sentinelPlace(redistest.StartSentinel(t, redistest.SentinelOptions{Data: opts}))
		},
		"Cluster": func(t *testing.T, opts redistest.Options) place {
			return clusterPlace(redistest.StartCluster(t, redistest.ClusterOptions{Data: opts}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := redistest.NewClock(t)
			p := start(t, redistest.Options{Clock: clock})
			t.Run("by less than what is left", func(t *testing.T) { stepsLittle(t, p, clock) })
			t.Run("by more", func(t *testing.T) { stepsFar(t, p, clock) })
			t.Run("back", func(t *testing.T) { stepsBack(t, p, clock) })
		})
	}
}

func stepsLittle(t *testing.T, p place, clock *redistest.Clock) {
	l := locktest.Acquire(t, p.open(t), locktest.RequestFor("little"))
	locktest.Must(t, clock.Push(20*time.Second))
	defer clock.Push(0)
	if held := locktest.MustBeBusy(t, p.open(t), "little"); held.TTL > 40*time.Second {
		t.Errorf("%s are left", held.TTL)
	}
	locktest.Renew(t, l)
	if left := locktest.Do(t, p.at("little"), "PTTL", locktest.LockKey("little")).(int64); left < 50_000 {
		t.Errorf("%d ms are left after a renewal", left)
	}
	release(t, l)
}

func stepsFar(t *testing.T, p place, clock *redistest.Clock) {
	first := locktest.Acquire(t, p.open(t), locktest.RequestFor("far"))
	alone := locktest.Acquire(t, p.open(t), locktest.RequestFor("alone"))
	locktest.Must(t, clock.Push(time.Minute+time.Second)) // a lease that ends this very millisecond is still one
	defer clock.Push(0)
	second := locktest.Acquire(t, p.open(t), locktest.RequestFor("far"))
	if second.Fence() <= first.Fence() {
		t.Errorf("fence %d after %d", second.Fence(), first.Fence())
	}
	if _, err := first.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("another has it, and a renewal says %v", err)
	}
	if _, err := alone.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrLost) ||
		errors.Is(err, lock.ErrTaken) {
		t.Errorf("nobody has it, and a renewal says %v", err)
	}
	release(t, second)
}

func stepsBack(t *testing.T, p place, clock *redistest.Clock) {
	l := locktest.Acquire(t, p.open(t), locktest.RequestFor("back"))
	locktest.Must(t, clock.Push(-time.Hour))
	defer clock.Push(0)
	if held := locktest.MustBeBusy(t, p.open(t), "back"); held.TTL < time.Hour {
		t.Errorf("%s are left", held.TTL)
	}
	locktest.Renew(t, l)
	if left := locktest.Do(t, p.at("back"), "PTTL", locktest.LockKey("back")).(int64); left > 60_000 {
		t.Errorf("%d ms are left after a renewal", left)
	}
	release(t, l)
}
