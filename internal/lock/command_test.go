package lock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/redistest"
)

// A command that the server does not know is never taken for a busy lock.
func TestUnknownCommandOfTheLineIsUnavailableAtOnceAndNamed(t *testing.T) {
	for _, command := range []string{"ZADD", "ZRANK", "HSET", "HGET", "ZRANGE"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			srv := redistest.Start(t, redistest.Options{Args: []string{"--rename-command", command, ""}})
			do(t, srv, "SET", jobKey, "deploy by bob")
			req, began := waits("job", Forever), time.Now()
			req.Timeout = patience
			_, err := open(t, srv.URL()).Acquire(t.Context(), req)
			var refusal *Refusal
			if mustBeUnavailable(t, err); !errors.As(err, &refusal) || refusal.Code != NOCOMMAND || refusal.Command != command {
				t.Errorf("got %v", err)
			}
			if took := time.Since(began); took > patience/2 {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// What is refused while a waiter stands in line ends as an outage, not as busy.
func TestRefusalInLineIsNoContention(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	acquire(t, s, requestFor("job"))
	req := waits("job", 2*time.Second)
	req.OnBusy = func(e *HeldError) {
		if e.Place > 0 {
			p.Play("ZRANK", "return {err = 'ERR unknown command'}")
			p.Reset() // so that it looks
		}
	}
	req.Timeout = time.Second
	_, err := s.Acquire(t.Context(), req)
	mustBeUnavailable(t, err)
}

// A right that is missing is no outage either, and the command is named.
func TestAnAcquireEndsAtOnceForWantOfARight(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"+eval", "+time", "+getrange", "+pttl", "+zrange", "+set"} {
		rights := strings.Replace(MinimalACL+" ", right+" ", "", 1)
		srv := redistest.Start(t, redistest.Options{Users: []string{"weak on >pw " + rights}})
		s := open(t, strings.Replace(srv.URL(), "//", "//weak:pw@", 1))
		req, began := requestFor("job"), time.Now()
		req.Timeout = patience
		_, err := s.Acquire(t.Context(), req)
		var r *Refusal
		if e := mustBeUnavailable(t, err); !e.Denied || !errors.As(e, &r) || "+"+strings.ToLower(r.Command) != right {
			t.Errorf("without %s: %v", right, err)
		}
		if took := time.Since(began); took > patience/2 {
			t.Errorf("without %s it took %s", right, took)
		}
	}
}
