package line_test

import (
	"errors"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A proxy that takes subscriptions and hangs up.
func TestSubscriptionThatEndsAtOnceIsTriedAgainWithAPause(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, srv)
	p.CutAfter("subscribe redlockrun:")
	held := locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("job"))
	req := waits("job", lock.Forever)
	polling := make(chan error, 10)
	req.OnPolling = func(err error) { polling <- err }
	req.OnOutage = func(err error) { t.Errorf("outage %v", err) }
	done, _ := park(t, srv, open(t, p.URL()), req, 1)
	parked := boottime.Now()
	locktest.Until(t, "three seconds", func() bool { return boottime.Now().Sub(parked) > 3*time.Second })
	if n := p.Count("subscribe redlockrun:"); n > 4 {
		t.Errorf("%d subscriptions in three seconds", n)
	}
	if err := <-polling; !errors.As(err, new(*lock.UnavailableError)) || len(polling) > 0 {
		t.Errorf("said %v, and %d more", err, len(polling))
	}
	release(t, held)
	release(t, lease(t, done))
	onlyFence(t, srv)
}

// Where scripts are told no time, a min-hold counts from the acquisition all the same.
func TestHeldCountsWithoutAServersClock(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	p.Play("TIME", "return {'0', '0'}")
	before := boottime.Now()
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	locktest.Until(t, "half a second", func() bool { return boottime.Now().Sub(before) > 500*time.Millisecond })
	locktest.Renew(t, l)
	if held, most := l.Held(), boottime.Now().Sub(before); held < 400*time.Millisecond || held > most {
		t.Errorf("held for %s of %s", held, most)
	}
	release(t, l)
}
