package line_test

import (
	"testing"

	"redlockrun/internal/proof/locktest"
)

// beforeTime makes answers strange: a clock that says so has never been.
const beforeTime = "return {'-5', '0'}"

// It has taken the lock, and is answered without a fence.
func TestStrangeAnswerToAnAcquireIsNoLock(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	p.Play("TIME", beforeTime)
	_, err := s.Acquire(t.Context(), impatient("job"))
	locktest.MustBeUnavailable(t, err)
	free(t, srv)
}

func TestStrangeAnswerToARenewalIsNoLoss(t *testing.T) {
	_, p, s := proxied(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	until := l.Until()
	p.Play("TIME", beforeTime)
	_, err := l.Renew(locktest.Limited(t, locktest.Patience))
	locktest.MustBeUnavailable(t, err)
	if l.Until() != until {
		t.Error("the lease goes on for longer")
	}
	release(t, l)
}

func TestStrangeAnswerAboutABusyLockIsNoContention(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	l := locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("job"))
	p.Play("PTTL", "return 'soon'")
	_, err := s.Acquire(t.Context(), impatient("job"))
	locktest.MustBeUnavailable(t, err)
	release(t, l)
	free(t, srv)
}
