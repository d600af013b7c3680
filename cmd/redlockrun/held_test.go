package main

import (
	"testing"

	"redlockrun/internal/proof/redistest"
)

// key is the key of the lock that the tests use.
const key = "redlockrun:{job}"

// wantNoLock waits until nothing holds the lock.
func wantNoLock(t testing.TB, s *redistest.Server) {
	t.Helper()
	untilKeys(t, s, "a free lock", 0)
}

// wantTaken waits until something holds it.
func wantTaken(t testing.TB, s *redistest.Server) {
	t.Helper()
	untilKeys(t, s, "the lock", 1)
}

func untilKeys(t testing.TB, s *redistest.Server, what string, want int64) {
	t.Helper()
	until(t, what, func() bool {
		n, err := s.Do("EXISTS", key)
		return err == nil && n == want
	})
}

// occupy gives the lock to another holder.
func occupy(t testing.TB, s *redistest.Server) {
	t.Helper()
	if _, err := s.Do("SET", key, "other"); err != nil {
		t.Fatal(err)
	}
}

// free deletes the lock, as an operator may.
func free(t testing.TB, s *redistest.Server) {
	t.Helper()
	if _, err := s.Do("DEL", key); err != nil {
		t.Fatal(err)
	}
}

// holder returns the value of the lock's key.
func holder(t testing.TB, s *redistest.Server) any {
	t.Helper()
	value, err := s.Do("GET", key)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
