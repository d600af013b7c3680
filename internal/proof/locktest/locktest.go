// Package locktest is what the tests of several stores share: requests, and what must be
// true of their answers.
package locktest

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/redistest"
)

// Patience bounds what must happen, on any machine.
const Patience = 30 * time.Second

// RequestFor asks for a lock with a ttl of a minute, by a run of its own.
func RequestFor(name string) lock.Request {
	return lock.Request{
		Name: name, Times: lock.TimesOf(time.Minute), Timeout: 5 * time.Second,
		Holder: lock.Holder{Run: lock.NewRunID(), Host: "web-3", PID: 4121, User: "alice", Command: "php",
			Start: time.Now()},
	}
}

// Acquire takes a lock that must be free.
func Acquire(t *testing.T, s lock.Store, req lock.Request) lock.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Do is a command that the server must accept.
func Do(t *testing.T, s *redistest.Server, words ...any) any {
	t.Helper()
	v, err := s.Do(words...)
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return v
}

// Limited is a context that ends after d.
func Limited(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// Must ends a test that went wrong.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// MustBeUnavailable ends a test unless err is that the store could not be asked.
func MustBeUnavailable(t *testing.T, err error) *lock.UnavailableError {
	t.Helper()
	var e *lock.UnavailableError
	if !errors.As(err, &e) || errors.Is(err, lock.ErrLost) {
		t.Fatalf("not unavailable: %v", err)
	}
	return e
}

// LockKey is the key of a lock.
func LockKey(name string) string { return wire.KeysOf(lock.DefaultPrefix, name, "").Lock }

// MustBeBusy is how another is told that the lock is busy.
func MustBeBusy(t *testing.T, s lock.Store, name string) *lock.HeldError {
	t.Helper()
	var held *lock.HeldError
	if l, err := s.Acquire(t.Context(), RequestFor(name)); err == nil {
		l.Release(Limited(t, Patience), lock.ReleaseRequest{})
		t.Fatal("another has got the lock")
	} else if !errors.As(err, &held) {
		t.Fatalf("another is told %v", err)
	}
	return held
}

// Until waits for a state of the server.
func Until(t *testing.T, what string, state func() bool) {
	t.Helper()
	if !redistest.Until(Patience, state) {
		t.Fatal("waited in vain: " + what)
	}
}

// Renew succeeds within a few tries, as the watchdog's renewals do.
func Renew(t *testing.T, l lock.Lease) {
	t.Helper()
	var err error
	Until(t, "a renewal", func() bool {
		_, err = l.Renew(Limited(t, Patience/3))
		if errors.Is(err, lock.ErrLost) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// SaysSinceWhen checks that a busy answer of the store says when the holder took the
// lock, whatever the holder's host says of the time.
func SaysSinceWhen(t *testing.T, s lock.Store) {
	t.Helper()
	req := RequestFor("job")
	req.Holder.Start = time.Now().Add(-time.Hour)
	before := boottime.Now().Add(-5 * time.Millisecond) // clocks of ms
	l := Acquire(t, s, req)
	after := boottime.Now().Add(5 * time.Millisecond)
	<-time.After(50 * time.Millisecond) // what is held for a while is told from what is held from now on
	asked := boottime.Now()
	since := MustBeBusy(t, s, "job").Since
	after = after.Add(boottime.Now().Sub(asked)) // an answer counts from when it has come
	if since.Before(before) || since.After(after) {
		t.Errorf("held for %v, which is not from %v to %v", boottime.Now().Sub(since), boottime.Now().Sub(after),
			boottime.Now().Sub(before))
	}
	Must(t, l.Release(Limited(t, Patience), lock.ReleaseRequest{}))
}

// CountsASleep checks that a lease of the store runs out while its holder's machine sleeps.
func CountsASleep(t *testing.T, s lock.Store) {
	t.Helper()
	req := RequestFor("asleep")
	req.Clock = new(boottime.Clock)
	l := Acquire(t, s, req)
	req.Clock.Sleep(time.Hour)
	woken := req.Clock.Now()
	if held := l.Held(); held < time.Hour || held > time.Hour+Patience {
		t.Errorf("held for %v after a sleep of an hour", held)
	}
	if until, err := l.Renew(Limited(t, Patience)); err != nil || until.Before(req.Times.End(woken)) ||
		until != l.Until() {
		t.Errorf("renewed after the sleep until %v from then, %v", until.Sub(woken), err)
	}
	Must(t, l.Release(Limited(t, Patience), lock.ReleaseRequest{}))
}

// HolderOf reads a value that may be anybody's.
func HolderOf(value string) lock.Holder {
	h, _ := wire.ReadRecord(value, 0, nil)
	return h
}

// Written are the ways in which people write a password into a URL.
func Written(password string) []string {
	return []string{
		password, url.PathEscape(password), url.QueryEscape(password), url.UserPassword("", password).String()[1:],
		strings.ReplaceAll(password, "@", "%40"),
	}
}

// ChangeFor is what an operator at a desk wants, for an hour if it is a pause.
func ChangeFor(act lock.Act) lock.Change {
	return lock.Change{
		Act: act, Reason: "deploy 7", For: time.Hour,
		By: lock.Holder{Run: lock.NewRunID(), Host: "desk", PID: 7, User: "alice", Command: "redlockrun",
			Start: time.Now()},
	}
}
