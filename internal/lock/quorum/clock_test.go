package quorum

import (
	"errors"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A server whose clock is set forward by a ttl forgets its lock, which the quorum
// outlives as long as a majority has the lock besides.
func TestAQuorumSurvivesClocksThatAreSetForward(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		size, without, ahead int // servers that do not have the lock, and others that jump
		lost                 bool
	}{
		"one of three":  {3, 0, 1, false},
		"two of three":  {3, 0, 2, true},
		"two of five":   {5, 0, 2, false},
		"three of five": {5, 0, 3, true},
		"one of five, where another lacks the lock":       {5, 1, 1, false},
		"two of five, where another lacks the lock":       {5, 1, 2, true},
		"one of three, where another lacks the lock":      {3, 1, 1, true},
		"none of three, where one of them lacks the lock": {3, 1, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, clocks := startClocked(t, test.size)
			store := all.open(t)
			first := acquireWhole(t, store, locktest.RequestFor("job"))
			for _, s := range all[:test.without] {
				locktest.Do(t, s, "DEL", locktest.LockKey("job"))
			}
			for _, c := range clocks[test.without : test.without+test.ahead] {
				locktest.Must(t, c.Push(time.Minute+time.Second))
			}
			if !test.lost {
				locktest.MustBeBusy(t, store, "job")
				_, err := first.Renew(locktest.Limited(t, locktest.Patience))
				locktest.Must(t, err)
				renewUntilWhole(t, first)
				locktest.Must(t, first.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
				return
			}
			second := locktest.Acquire(t, store, locktest.RequestFor("job"))
			if _, err := first.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrLost) {
				t.Errorf("a renewal says %v", err)
			}
			if second.Fence() <= first.Fence() {
				t.Errorf("fence %d after %d", second.Fence(), first.Fence())
			}
			locktest.Must(t, second.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
		})
	}
}

// startClocked is startServers with the servers' clocks.
func startClocked(t *testing.T, n int) (all servers, clocks []*redistest.Clock) {
	t.Helper()
	for range n {
		s, c := startOld(t, redistest.Options{})
		all, clocks = append(all, s), append(clocks, c)
	}
	return all, clocks
}
