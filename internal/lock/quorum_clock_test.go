package lock

import (
	"errors"
	"testing"
	"time"

	"redlockrun/internal/redistest"
)

// A server whose clock is set forward by a ttl forgets its lock, which the quorum
// outlives as long as a majority has the lock besides.
func TestL9AQuorumOutlivesClocksThatAreSetForward(t *testing.T) {
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
			first := acquireWhole(t, store, requestFor("job"))
			for _, s := range all[:test.without] {
				do(t, s, "DEL", lockKey("job"))
			}
			for _, c := range clocks[test.without : test.without+test.ahead] {
				must(t, c.Push(time.Minute))
			}
			if !test.lost {
				mustBeBusy(t, store, "job")
				_, err := first.Renew(limited(t, patience))
				must(t, err)
				mend(t, first)
				must(t, first.Release(limited(t, patience), 0))
				return
			}
			second := acquire(t, store, requestFor("job"))
			if _, err := first.Renew(limited(t, patience)); !errors.Is(err, ErrLost) {
				t.Errorf("a renewal says %v", err)
			}
			if second.Fence() <= first.Fence() {
				t.Errorf("fence %d after %d", second.Fence(), first.Fence())
			}
			must(t, second.Release(limited(t, patience), 0))
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
