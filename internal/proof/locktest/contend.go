package locktest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

// A witness has seen all leases of a lock, one after the other.
type witness struct {
	t      *testing.T
	mu     sync.Mutex
	inside int
	fence  int64
	held   map[int]int // by client
}

func (w *witness) enter(client int, l lock.Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inside++; w.inside > 1 {
		w.t.Errorf("%d hold the lock at once", w.inside)
	}
	if l.Fence() <= w.fence {
		w.t.Errorf("fence %d after %d", l.Fence(), w.fence)
	}
	w.fence = l.Fence()
	w.held[client]++
}

func (w *witness) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inside--
}

func (w *witness) fewest(clients int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	least := w.held[0]
	for i := range clients {
		least = min(least, w.held[i])
	}
	return least
}

// Contend lets each client ask for the lock "job" again and again, for d and until each
// has had it. At most one has it at a time, and the fence grows. Now and then one gives up
// while it waits, dies with the lock, or keeps it for a moment after it.
func Contend(t *testing.T, d time.Duration, clients ...lock.Store) {
	t.Helper()
	w := &witness{t: t, held: map[int]int{}}
	draw := Draw(t)
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i, s := range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				w.turn(ctx, s, i, draw)
			}
		})
	}
	<-time.After(d)
	Until(t, "each client has had the lock", func() bool { return w.fewest(len(clients)) > 0 })
	end()
	all.Wait()
	t.Logf("held by client: %v", w.held)
}

// contendTTL is short, so that the dead are succeeded.
const contendTTL = 2 * time.Second

func (w *witness) turn(ctx context.Context, s lock.Store, client int, draw func(int) int) {
	req := RequestFor("job")
	req.Times = lock.TimesOf(contendTTL)
	req.Wait.Limit = lock.Forever
	if draw(4) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(draw(200))*time.Millisecond)
		defer cancel()
	}
	l, err := s.Acquire(ctx, req)
	if err != nil {
		if ctx.Err() == nil && !errors.As(err, new(*lock.UnavailableError)) {
			w.t.Errorf("client %d: %v", client, err)
		}
		return
	}
	w.enter(client, l)
	<-time.After(time.Duration(draw(10)) * time.Millisecond)
	if draw(3) == 0 {
		l.Renew(Limited(w.t, req.Times.Try))
	}
	w.leave()
	if draw(100) == 0 {
		return // it is dead
	}
	var keep time.Duration
	if draw(4) == 0 {
		keep = 10 * time.Millisecond
	}
	l.Release(Limited(w.t, Patience), lock.ReleaseRequest{Keep: keep})
}
