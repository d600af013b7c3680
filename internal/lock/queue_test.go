package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/redistest"
)

// waits is a request that waits in line for a lock.
func waits(name string, limit time.Duration) Request {
	req := requestFor(name)
	req.Wait.Limit = limit
	return req
}

// A result is how an Acquire ended.
type result struct {
	lease Lease
	err   error
}

// begin starts an Acquire, which ends with the test.
func begin(t *testing.T, s Store, req Request) (done <-chan result, stop context.CancelCauseFunc) {
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
	return do(t, srv, "ZCARD", "redlockrun:{"+name+"}:line").(int64)
}

// park starts an Acquire and returns when it is the n-th in line, and connected.
func park(t *testing.T, srv *redistest.Server, s Store, req Request, n int64) (done <-chan result, stop context.CancelCauseFunc) {
	t.Helper()
	done, stop = begin(t, s, req)
	until(t, fmt.Sprintf("%d in line", n), func() bool { return inLine(t, srv, req.Name) == n })
	return done, stop
}

func got(t *testing.T, done <-chan result) result {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(patience):
		t.Fatal("Acquire has not returned")
	}
	return result{}
}

func lease(t *testing.T, done <-chan result) Lease {
	t.Helper()
	r := got(t, done)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.lease
}

func release(t *testing.T, l Lease) {
	t.Helper()
	if err := l.Release(limited(t, patience), 0); err != nil {
		t.Fatal(err)
	}
}

// onlyFence checks that nothing is left of a lock but its counter.
func onlyFence(t *testing.T, srv *redistest.Server) {
	t.Helper()
	until(t, "only fences left", func() bool {
		return left(t, srv, "") == ""
	})
}

// onlyFenceAndMarks is onlyFence where a request got no answer: the mark against
// it stays for a minute.
func onlyFenceAndMarks(t *testing.T, srv *redistest.Server) {
	t.Helper()
	until(t, "only fences and marks left", func() bool { return left(t, srv, ":gone:") == "" })
}

// left is a key that is left beside fences, and those that contain but.
func left(t *testing.T, srv *redistest.Server, but string) string {
	t.Helper()
	for _, k := range do(t, srv, "KEYS", "*").([]any) {
		if key := k.(string); !strings.HasSuffix(key, ":fence") && (but == "" || !strings.Contains(key, but)) {
			return key
		}
	}
	return ""
}

func TestWaitersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	const rounds, waiters = 20, 100
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	fence := int64(0)
	for round := range rounds {
		held := acquire(t, s, requestFor("job"))
		var queue []<-chan result
		for i := range waiters {
			done, _ := park(t, srv, s, waits("job", Forever), int64(i+1))
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
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	held := acquire(t, s, requestFor("job"))
	done, stop := park(t, srv, s, waits("job", Forever), 1)
	signal := errors.New("signal")
	stop(signal)
	if r := got(t, done); r.err != signal {
		t.Errorf("got %v", r.err)
	}
	until(t, "nobody in line", func() bool { return inLine(t, srv, "job") == 0 })
	release(t, held)
	onlyFence(t, srv)
}

func TestLimitEndsTheWaitAsBusy(t *testing.T) {
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	acquire(t, s, requestFor("job"))
	var places []int
	req := waits("job", 300*time.Millisecond)
	req.OnBusy = func(e *HeldError) { places = append(places, e.Place) }
	_, err := s.Acquire(t.Context(), req)
	var held *HeldError
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
