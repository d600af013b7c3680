package line_test

import (
	"errors"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
)

// It needs the processor for itself: no others beside it.
func TestWaitersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	ability.Slow(t)
	const rounds, waiters = 20, 100
	srv, s := served(t)
	fence := int64(0)
	for range rounds {
		held := locktest.Acquire(t, s, locktest.RequestFor("job"))
		if f := held.Fence(); f <= fence {
			t.Fatalf("fence %d after %d", f, fence)
		}
		held = serve(t, held, parkMany(t, srv, s, waiters)...)
		fence = held.Fence()
		release(t, held)
	}
	onlyFence(t, srv)
}

func TestSignalEndsTheWaitWithoutResidue(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	req := waits("job", lock.Forever)
	placed := make(chan struct{}, 1)
	req.OnBusy = func(e *lock.HeldError) {
		if e.Position > 0 { // its look has been answered: none is in doubt, which would leave a mark for a minute
			select {
			case placed <- struct{}{}:
			default:
			}
		}
	}
	done, stop := begin(t, s, req)
	<-placed
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
	srv, s, _ := holding(t)
	var places []int
	req := waits("job", 300*time.Millisecond)
	req.OnBusy = func(e *lock.HeldError) { places = append(places, e.Position) }
	_, err := s.Acquire(t.Context(), req)
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Host != "web-3" || held.Position != 1 {
		t.Errorf("got %v", err)
	}
	if len(places) < 2 || places[0] != 0 || places[1] != 1 {
		t.Errorf("places %v", places)
	}
	wantInLine(t, srv, 0)
}
