package lock

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/redistest"
)

// A busy answer says when its holder took the lock, wherever the lock lives, whatever
// the holder's host says of the time.
func TestABusyAnswerSaysSinceWhenTheLockIsHeld(t *testing.T) {
	for _, p := range []struct {
		name string
		open func(t *testing.T) Store
	}{
		{"one server", func(t *testing.T) Store { return open(t, redistest.Start(t, redistest.Options{}).URL()) }},
		{"quorum", func(t *testing.T) Store {
			var all servers
			for range 3 {
				all = append(all, redistest.Start(t, redistest.Options{}))
			}
			return openAll(t, OpenConfig{URLs: all.urls(), Prefix: DefaultPrefix, Durable: true})
		}},
		{"local", func(t *testing.T) Store { return openLocal(t) }},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := p.open(t)
			req := requestFor("job")
			req.Holder.Start = time.Now().Add(-time.Hour)
			before := boottime.Now().Add(-5 * time.Millisecond) // clocks of ms
			l := acquire(t, s, req)
			after := boottime.Now().Add(5 * time.Millisecond)
			if since := busy(t, s, "job").Since; since.Before(before) || since.After(after) {
				t.Errorf("held for %v, which is not from %v to %v", boottime.Now().Sub(since), boottime.Now().Sub(after), boottime.Now().Sub(before))
			}
			release(t, l)
		})
	}
}

func TestOfAForeignValueNobodyKnowsSinceWhen(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	do(t, s, "SET", keysOf(DefaultPrefix, "job", "").lock, "somebody")
	if since := busy(t, open(t, s.URL()), "job").Since; !since.IsZero() {
		t.Errorf("since %v", since)
	}
}

// A waiter that is not one of the first looks every five seconds; whose the lock is
// when its wait is over it is told when it leaves the line.
func TestAWaitThatRunsOutSaysWhoseTheLockIsThen(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	key := keysOf(DefaultPrefix, "job", "").lock
	old := fmt.Sprintf(`{"run":"%s","v":1,"host":"old","pid":1,"user":"u","cmd":"c","start":1,"fence":1,"at":1000}`, NewRunID())
	do(t, s, "SET", key, old)
	req := requestFor("job")
	req.Wait.Limit = 500 * time.Millisecond
	req.OnBusy = func(e *HeldError) {
		if e.Place > 0 {
			do(t, s, "SET", key, strings.Replace(old, `"old"`, `"new"`, 1))
		}
	}
	_, err := open(t, s.URL()).Acquire(t.Context(), req)
	var held *HeldError
	if !errors.As(err, &held) || held.Holder.Host != "new" {
		t.Errorf("%v", err)
	}
}
