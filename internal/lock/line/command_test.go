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

// A command that the server does not know is never taken for a busy lock.
func TestUnknownCommandOfTheLineIsUnavailableAtOnceAndNamed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"ZADD", "ZRANK", "HSET", "HGET", "ZRANGE"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			srv := redistest.Start(t, redistest.Options{Args: []string{"--rename-command", command, ""}})
			locktest.Do(t, srv, "SET", jobKey, "deploy by bob")
			req, began := waits("job", lock.Forever), time.Now()
			req.Timeout = locktest.Patience
			_, err := open(t, srv.URL()).Acquire(t.Context(), req)
			var refusal *lock.Refusal
			if locktest.MustBeUnavailable(t, err); !errors.As(err, &refusal) || refusal.Code != lock.NOCOMMAND ||
				refusal.Command != command {
				t.Errorf("got %v", err)
			}
			if took := time.Since(began); took > locktest.Patience/2 {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// What is refused while a waiter stands in line ends as an outage, not as busy.
func TestRefusalInLineIsNoContention(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	locktest.Acquire(t, s, locktest.RequestFor("job"))
	req := waits("job", 2*time.Second)
	req.OnBusy = func(e *lock.HeldError) {
		if e.Position > 0 {
			p.Play("ZRANK", "return {err = 'ERR unknown command'}")
			p.Reset() // so that it looks
		}
	}
	req.Timeout = time.Second
	_, err := s.Acquire(t.Context(), req)
	locktest.MustBeUnavailable(t, err)
}

// A server that has refused says what is wrong, also if it falls silent then.
func TestSilenceDoesNotHideARefusalInLine(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	locktest.Acquire(t, s, locktest.RequestFor("job"))
	req := waits("job", 2*time.Second)
	req.Timeout = 400 * time.Millisecond
	req.OnBusy = func(e *lock.HeldError) {
		if e.Position > 0 {
			p.Play("ZRANK", "return {err = 'READONLY no'}")
			p.Reset() // so that it looks
		}
	}
	req.OnOutage = func(err error) {
		if lock.Refused(err) {
			p.BlackHole(true)
		}
	}
	if _, err := s.Acquire(t.Context(), req); !lock.Refused(err) {
		t.Error(err)
	}
}

// A right that is missing is no outage either, and the command is named.
func TestAnAcquireEndsAtOnceForWantOfARight(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"+eval", "+time", "+getrange", "+pttl", "+zrange", "+set"} {
		rights := strings.Replace(lock.MinimalACL+" ", right+" ", "", 1)
		srv := redistest.Start(t, redistest.Options{Users: []string{"weak on >pw " + rights}})
		s := open(t, strings.Replace(srv.URL(), "//", "//weak:pw@", 1))
		req, began := locktest.RequestFor("job"), time.Now()
		req.Timeout = locktest.Patience
		_, err := s.Acquire(t.Context(), req)
		var r *lock.Refusal
		if e := locktest.MustBeUnavailable(t, err); !e.Denied || !errors.As(e, &r) ||
			"+"+strings.ToLower(r.Command) != right {
			t.Errorf("without %s: %v", right, err)
		}
		if took := time.Since(began); took > locktest.Patience/2 {
			t.Errorf("without %s it took %s", right, took)
		}
	}
}
