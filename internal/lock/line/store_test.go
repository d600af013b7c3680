package line_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

func TestLockIsHeldRenewedAndReleased(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	req := locktest.RequestFor("job")
	before := time.Now()
	l := locktest.Acquire(t, s, req)
	begins := `{"run":"` + req.Holder.Run + `","v":1,"host":"web-3","pid":4121,"user":"alice","cmd":"php",`
	if value := locktest.Do(t, srv, "GET", "redlockrun:{job}").(string); !strings.HasPrefix(value, begins) {
		t.Errorf("record %s", value)
	}
	if left := locktest.Do(t, srv, "PTTL", "redlockrun:{job}").(int64); left > 60_000 || left < 30_000 {
		t.Errorf("%d ms left", left)
	}
	if l.Fence() < before.UnixMilli() || l.Held() < 0 || l.Until().Sub(before) < 50*time.Second {
		t.Errorf("fence %d, held %s, until %s", l.Fence(), l.Held(), l.Until())
	}
	locktest.Do(t, srv, "PEXPIRE", "redlockrun:{job}", 10_000)
	until, err := l.Renew(locktest.Limited(t, locktest.Patience))
	if err != nil || until != l.Until() {
		t.Errorf("renewed until %s, %v", until, err)
	}
	if left := locktest.Do(t, srv, "PTTL", "redlockrun:{job}").(int64); left < 30_000 {
		t.Errorf("%d ms left after renewal", left)
	}
	release(t, l)
	if keys := locktest.Do(t, srv, "KEYS", "*").([]any); len(keys) != 1 || keys[0] != "redlockrun:{job}:fence" {
		t.Errorf("left behind: %v", keys)
	}
}

func TestARunIsOneHandshakeOneAcquireOneRelease(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, srv)
	l := locktest.Acquire(t, open(t, p.URL()), locktest.RequestFor("job"))
	release(t, l)
	var words []string
	for _, r := range p.Requests() {
		word, _, _ := strings.Cut(r, " ")
		words = append(words, strings.ToUpper(word))
	}
	if strings.Join(words, " ") != "HELLO EVAL EVAL" || p.RoundTrips() != 3 || p.Accepted() != 1 {
		t.Errorf("%v in %d round trips on %d connections", words, p.RoundTrips(), p.Accepted())
	}
}

func TestBusyLockSaysWhoHoldsIt(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	req := locktest.RequestFor("job")
	locktest.Acquire(t, s, req)
	_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
	var held *lock.HeldError
	if !errors.As(err, &held) {
		t.Fatal(err)
	}
	if held.Holder.Run != req.Holder.Run || held.Holder.String() != "web-3:4121 (alice, php)" ||
		held.Key != "redlockrun:{job}" ||
		held.TTL <= 0 || held.TTL > time.Minute || held.Holder.Start.UnixMilli() != req.Holder.Start.UnixMilli() {
		t.Errorf("%+v", held)
	}
}

func TestMinHoldKeepsTheLockAndSaysThatTheRunHasEnded(t *testing.T) {
	t.Parallel()
	srv, s, l := holding(t)
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: 20 * time.Second}))
	_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Ended.IsZero() || held.TTL > 20*time.Second ||
		held.Holder.Host != "web-3" {
		t.Fatalf("%+v, %v", held, err)
	}
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrLost) {
		t.Errorf("a renewal after the end: %v", err)
	}
	if left := locktest.Do(t, srv, "PTTL", "redlockrun:{job}").(int64); left > 20_000 {
		t.Errorf("the renewal made it %d ms", left)
	}
}

func TestFenceGrowsPastALostCounterAndAClockThatStands(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	var last int64
	for i := range 4 {
		if i == 2 {
			locktest.Do(t, srv, "DEL", "redlockrun:{job}:fence")
			locktest.Until(t, "the next millisecond", func() bool { return time.Now().UnixMilli() > last })
		}
		if i == 3 {
			last += 1 << 50
			locktest.Do(t, srv, "SET", "redlockrun:{job}:fence", last)
		}
		l := locktest.Acquire(t, s, locktest.RequestFor("job"))
		if l.Fence() <= last {
			t.Errorf("fence %d after %d", l.Fence(), last)
		}
		last = l.Fence()
		release(t, l)
	}
	if got := locktest.Do(t, srv, "GET", "redlockrun:{job}:fence"); last < 1<<50 || got == "" {
		t.Errorf("counter %v, last %d", got, last)
	}
}
