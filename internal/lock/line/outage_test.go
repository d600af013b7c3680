package line_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// lengthy is longer than a waiter may be silent while others are not.
const lengthy = 16 * time.Second

// lasts waits until an outage that began then has lasted for lengthy.
func lasts(t *testing.T, began time.Time) {
	t.Helper()
	locktest.Until(t, "a long outage", func() bool { return boottime.Now().Sub(began) > lengthy })
}

// threeInLine waits behind a holder; no waiter may say that it was passed over.
func threeInLine(t *testing.T, srv *redistest.Server, s lock.Store) (queue []<-chan result, reqs []lock.Request) {
	t.Helper()
	for i := range 3 {
		req := waits("job", lock.Forever)
		req.OnBusy = func(e *lock.HeldError) {
			if e.Rejoined {
				t.Errorf("waiter %d lost its place (handed over meanwhile: %v)", i, e.Missed)
			}
		}
		done, _ := park(t, srv, s, req, int64(i+1))
		queue, reqs = append(queue, done), append(reqs, req)
	}
	return queue, reqs
}

// backAgain waits until each has looked since the outage, and can be called.
func backAgain(t *testing.T, srv *redistest.Server, healed time.Time, reqs []lock.Request) {
	t.Helper()
	for _, req := range reqs {
		locktest.Until(t, "back again", func() bool {
			var seen int64
			var called int
			entry, _ := locktest.Do(t, srv, "HGET", jobKey+":who", req.Holder.Run).(string)
			fmt.Sscan(entry, &seen, &called)
			return seen >= healed.UnixMilli() && called == 1
		})
	}
}

func TestLongOutageOfTheWaitersKeepsTheirOrder(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	srv, p, s := proxied(t)
	held := locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("job"))
	queue, reqs := threeInLine(t, srv, s)
	p.Refuse(true)
	p.Reset()
	lasts(t, boottime.Now())
	healed := time.Now()
	p.Refuse(false)
	backAgain(t, srv, healed, reqs)
	release(t, serve(t, held, queue...))
}

func TestLongOutageOfOneWaiterKeepsItsPlaceIfNobodyIsServed(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	srv, p, s := proxied(t)
	direct := open(t, srv.URL())
	held := locktest.Acquire(t, direct, locktest.RequestFor("job"))
	req := waits("job", lock.Forever)
	first, _ := park(t, srv, s, req, 1)
	second, _ := park(t, srv, direct, waits("job", lock.Forever), 2)
	p.Refuse(true)
	p.Reset()
	lasts(t, boottime.Now())
	healed := time.Now()
	p.Refuse(false)
	backAgain(t, srv, healed, []lock.Request{req})
	release(t, serve(t, held, first, second))
}

// The holder's release is the first that the server does when it goes on.
func TestServerThatStoodStillForLongKeepsTheOrder(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	srv, s, held := holding(t)
	queue, _ := threeInLine(t, srv, s)
	locktest.Must(t, srv.Signal(syscall.SIGSTOP))
	lasts(t, boottime.Now())
	locktest.Must(t, srv.Signal(syscall.SIGCONT))
	release(t, serve(t, held, queue...))
}

// The server was down for long, and the lock has lapsed meanwhile: whoever
// is back first gives the others a moment.
func TestServerThatWasDownForLongKeepsTheOrder(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	srv := redistest.Start(t, redistest.Options{Persist: true})
	s := open(t, srv.URL())
	req := locktest.RequestFor("job")
	req.Times = lock.TimesOf(10 * time.Second)
	locktest.Acquire(t, s, req)
	queue, reqs := threeInLine(t, srv, s)
	srv.Kill()
	lasts(t, boottime.Now())
	healed := time.Now()
	locktest.Must(t, srv.Restart(true))
	held := lease(t, queue[0])
	backAgain(t, srv, healed, reqs[1:])
	release(t, serve(t, held, queue[1:]...))
}
