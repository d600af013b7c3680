package line_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/ability"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/locktest"
	"redlockrun/internal/redistest"
)

// waits is a request that waits in line for a lock.
func waits(name string, limit time.Duration) lock.Request {
	req := locktest.RequestFor(name)
	req.Wait.Limit = limit
	return req
}

// A result is how an Acquire ended.
type result struct {
	lease lock.Lease
	err   error
}

// begin starts an Acquire, which ends with the test.
func begin(t *testing.T, s lock.Store, req lock.Request) (done <-chan result, stop context.CancelCauseFunc) {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	c := make(chan result, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		l, err := s.Acquire(ctx, req)
		c <- result{l, err}
	})
	t.Cleanup(func() { stop(nil); wg.Wait() })
	return c, stop
}

func inLine(t *testing.T, srv *redistest.Server, name string) int64 {
	t.Helper()
	return locktest.Do(t, srv, "ZCARD", "redlockrun:{"+name+"}:line").(int64)
}

// park starts an Acquire and returns when it is the n-th in line, and connected.
func park(t *testing.T, srv *redistest.Server, s lock.Store, req lock.Request, n int64) (done <-chan result, stop context.CancelCauseFunc) {
	t.Helper()
	done, stop = begin(t, s, req)
	locktest.Until(t, fmt.Sprintf("%d in line", n), func() bool { return inLine(t, srv, req.Name) == n })
	return done, stop
}

func got(t *testing.T, done <-chan result) result {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(locktest.Patience):
		t.Fatal("Acquire has not returned")
	}
	return result{}
}

func lease(t *testing.T, done <-chan result) lock.Lease {
	t.Helper()
	r := got(t, done)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.lease
}

func release(t *testing.T, l lock.Lease) {
	t.Helper()
	if err := l.Release(locktest.Limited(t, locktest.Patience), 0); err != nil {
		t.Fatal(err)
	}
}

// onlyFence checks that nothing is left of a lock but its counter.
func onlyFence(t *testing.T, srv *redistest.Server) {
	t.Helper()
	locktest.Until(t, "only fences left", func() bool {
		return left(t, srv, "") == ""
	})
}

// onlyFenceAndMarks is onlyFence where a request got no answer: the mark against
// it stays for a minute.
func onlyFenceAndMarks(t *testing.T, srv *redistest.Server) {
	t.Helper()
	locktest.Until(t, "only fences and marks left", func() bool { return left(t, srv, ":gone:") == "" })
}

// left is a key that is left beside fences, and those that contain but.
func left(t *testing.T, srv *redistest.Server, but string) string {
	t.Helper()
	for _, k := range locktest.Do(t, srv, "KEYS", "*").([]any) {
		if key := k.(string); !strings.HasSuffix(key, ":fence") && (but == "" || !strings.Contains(key, but)) {
			return key
		}
	}
	return ""
}

// It needs the processor for itself: no others beside it.
func TestWaitersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	ability.Slow(t)
	const rounds, waiters = 20, 100
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	fence := int64(0)
	for round := range rounds {
		held := locktest.Acquire(t, s, locktest.RequestFor("job"))
		var queue []<-chan result
		for i := range waiters {
			done, _ := park(t, srv, s, waits("job", lock.Forever), int64(i+1))
			queue = append(queue, done)
		}
		for i, done := range queue {
			if f := held.Fence(); f <= fence {
				t.Fatalf("fence %d after %d", f, fence)
			}
			fence = held.Fence()
			release(t, held)
			held = lease(t, done)
			for j, later := range queue[i+1:] {
				select {
				case r := <-later:
					t.Fatalf("round %d: waiter %d has the lock (%v) beside %d", round, i+1+j, r.err, i)
				default:
				}
			}
		}
		release(t, held)
	}
	onlyFence(t, srv)
}

func TestSignalEndsTheWaitWithoutResidue(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	held := locktest.Acquire(t, s, locktest.RequestFor("job"))
	done, stop := park(t, srv, s, waits("job", lock.Forever), 1)
	signal := errors.New("signal")
	stop(signal)
	if r := got(t, done); r.err != signal {
		t.Errorf("got %v", r.err)
	}
	locktest.Until(t, "nobody in line", func() bool { return inLine(t, srv, "job") == 0 })
	release(t, held)
	onlyFence(t, srv)
}

func TestLimitEndsTheWaitAsBusy(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	locktest.Acquire(t, s, locktest.RequestFor("job"))
	var places []int
	req := waits("job", 300*time.Millisecond)
	req.OnBusy = func(e *lock.HeldError) { places = append(places, e.Place) }
	_, err := s.Acquire(t.Context(), req)
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Host != "web-3" || held.Place != 1 {
		t.Errorf("got %v", err)
	}
	if len(places) < 2 || places[0] != 0 || places[1] != 1 {
		t.Errorf("places %v", places)
	}
	if n := inLine(t, srv, "job"); n != 0 {
		t.Errorf("%d in line", n)
	}
}
