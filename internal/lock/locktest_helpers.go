package lock

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/redistest"
)

// patience bounds what must happen, on any machine.
const patience = 30 * time.Second

// request for a lock with a ttl of a minute, by a run of its own.
func requestFor(name string) Request {
	return Request{
		Name: name, Times: TimesOf(time.Minute), Timeout: 5 * time.Second,
		Holder: Holder{Run: NewRunID(), Host: "web-3", PID: 4121, User: "alice", Command: "php", Start: time.Now()},
	}
}

func acquire(t *testing.T, s Store, req Request) Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// do is a command that the server must accept.
func do(t *testing.T, s *redistest.Server, words ...any) any {
	t.Helper()
	v, err := s.Do(words...)
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return v
}

func limited(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBeUnavailable(t *testing.T, err error) *UnavailableError {
	t.Helper()
	var e *UnavailableError
	if !errors.As(err, &e) || errors.Is(err, ErrLost) {
		t.Fatalf("not unavailable: %v", err)
	}
	return e
}

func lockKey(name string) string { return keysOf(DefaultPrefix, name, "").lock }

// mustBeBusy is how another is told that the lock is busy.
func mustBeBusy(t *testing.T, s Store, name string) *HeldError {
	t.Helper()
	var held *HeldError
	if l, err := s.Acquire(t.Context(), requestFor(name)); err == nil {
		l.Release(limited(t, patience), 0)
		t.Fatal("another has got the lock")
	} else if !errors.As(err, &held) {
		t.Fatalf("another is told %v", err)
	}
	return held
}

// until waits for a state of the server.
func until(t *testing.T, what string, state func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !state(); {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: " + what)
		}
		<-time.After(time.Millisecond)
	}
}

// renew succeeds within a few tries, as the watchdog's renewals do.
func renew(t *testing.T, l Lease) {
	t.Helper()
	var err error
	until(t, "a renewal", func() bool {
		_, err = l.Renew(limited(t, patience/3))
		if errors.Is(err, ErrLost) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// saysSinceWhen checks that a busy answer of the store says when the holder took the
// lock, whatever the holder's host says of the time.
func saysSinceWhen(t *testing.T, s Store) {
	t.Helper()
	req := requestFor("job")
	req.Holder.Start = time.Now().Add(-time.Hour)
	before := boottime.Now().Add(-5 * time.Millisecond) // clocks of ms
	l := acquire(t, s, req)
	after := boottime.Now().Add(5 * time.Millisecond)
	if since := mustBeBusy(t, s, "job").Since; since.Before(before) || since.After(after) {
		t.Errorf("held for %v, which is not from %v to %v", boottime.Now().Sub(since), boottime.Now().Sub(after), boottime.Now().Sub(before))
	}
	must(t, l.Release(limited(t, patience), 0))
}

// holderOf reads a value that may be anybody's.
func holderOf(value string) Holder {
	h, _ := readRecord(value, 0)
	return h
}

// written are the ways in which people write a password into a URL.
func written(password string) []string {
	return []string{
		password, url.PathEscape(password), url.QueryEscape(password), url.UserPassword("", password).String()[1:],
		strings.ReplaceAll(password, "@", "%40"),
	}
}
