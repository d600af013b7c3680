package line_test

import (
	"errors"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// vanishings are the ways in which a lock goes before its lease has ended.
var vanishings = map[string]func(*testing.T, *redistest.Server){
	"deleted": func(t *testing.T, srv *redistest.Server) { locktest.Do(t, srv, "DEL", jobKey) },
	"expired": func(t *testing.T, srv *redistest.Server) { locktest.Do(t, srv, "PEXPIRE", jobKey, 1) },
	"flushed": func(t *testing.T, srv *redistest.Server) { locktest.Do(t, srv, "FLUSHALL") },
	"restart": func(t *testing.T, srv *redistest.Server) {
		locktest.Must(t, srv.Restart(false))
	},
}

func TestLockThatVanishedIsFreeForWhoeverLooksNext(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for name, vanish := range vanishings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, s, held := holding(t)
			first, second := parkTwo(t, srv, s)
			vanish(t, srv)
			gone := boottime.Now()
			var l lock.Lease
			select { // the order may be lost with the data
			case r := <-first:
				l, first = r.lease, second
			case r := <-second:
				l = r.lease
			case <-time.After(locktest.Patience):
				t.Fatal("it stays reserved")
			}
			if l == nil {
				t.Fatal("no lease")
			}
			if took, most := boottime.Now().Sub(gone), 2*line.LookEvery; took >= most { // 5.5 s, on an idle machine
				t.Errorf("it was free for %s", took)
			}
			if err := held.Release(locktest.Limited(t, locktest.Patience), lock.Farewell{}); !errors.Is(err, lock.ErrLost) {
				t.Errorf("its run ends: %v", err)
			}
			release(t, l)
			release(t, lease(t, first))
		})
	}
}

func TestDeletedLockIsHandedOverAtOnceWhenAnybodyAsks(t *testing.T) {
	t.Parallel()
	for name, holder := range map[string]func(*testing.T, *redistest.Server, lock.Store){
		"a run": func(t *testing.T, _ *redistest.Server, s lock.Store) {
			locktest.Acquire(t, s, locktest.RequestFor("job"))
		},
		"foreign": func(t *testing.T, srv *redistest.Server, _ lock.Store) {
			locktest.Do(t, srv, "SET", jobKey, "deploy by bob", "PX", 60_000)
		},
		"no TTL": func(t *testing.T, srv *redistest.Server, _ lock.Store) {
			locktest.Do(t, srv, "SET", jobKey, "deploy by bob")
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv, s := served(t)
			holder(t, srv, s)
			waiter := waits("job", lock.Forever)
			done, _ := park(t, srv, s, waiter, 1)
			locktest.Do(t, srv, "DEL", jobKey)
			deleted := boottime.Now()
			_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
			var held *lock.HeldError
			if !errors.As(err, &held) || held.Holder.Run != waiter.Holder.Run {
				t.Errorf("the newcomer got %v", err)
			}
			l := lease(t, done)
			if took := boottime.Now().Sub(deleted); took >= line.LookEvery { // they looked by themselves
				t.Errorf("it was free for %s", took)
			}
			release(t, l)
			onlyFence(t, srv)
		})
	}
}

// The first look of a waiter may get no answer: what it saw before does not
// keep the lock from anybody.
func TestWaiterThatIsNotYetInLineReservesNothing(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	locktest.Acquire(t, s, locktest.RequestFor("job"))
	req := waits("job", lock.Forever)
	failed := make(chan error, 100)
	req.OnOutage = func(err error) { failed <- err }
	req.OnBusy = func(e *lock.HeldError) {
		if e.Place == 0 {
			p.Refuse(true)
			p.Reset()
		}
	}
	done, _ := begin(t, s, req)
	<-failed
	locktest.Do(t, srv, "DEL", jobKey)
	p.Refuse(false)
	release(t, lease(t, done))
	onlyFenceAndMarks(t, srv)
}
