package quorum

import (
	"errors"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// Each server in turn is killed and comes back without its data; the lock that
// was there before is there still, and its fence.
func TestALockSurvivesARollingRestart(t *testing.T) {
	t.Parallel()
	all := startServers(t, 5, redistest.Options{})
	store := all.open(t)
	req := locktest.RequestFor("job")
	l := acquireWhole(t, store, req)
	for i, s := range all {
		locktest.Must(t, s.Restart(false))
		_, err := l.Renew(locktest.Limited(t, locktest.Patience))
		locktest.Must(t, err)
		renewUntilWhole(t, l)
		if n := all.held(t, req.Holder.Run); n != 5 {
			t.Errorf("after %d restarts %d servers have the lock", i+1, n)
		}
		if _, err := store.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, new(*lock.HeldError)) {
			t.Errorf("after %d restarts another is told %v", i+1, err)
		}
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	all.mustBeClean(t)
	// they have just been restarted
	next := openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true})
	second := locktest.Acquire(t, next, locktest.RequestFor("job"))
	if second.Fence() <= l.Fence() {
		t.Errorf("fence %d after %d", second.Fence(), l.Fence())
	}
	locktest.Must(t, second.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
}
