package lock

import (
	"errors"
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
