package model

import (
	"errors"
	"os"
	"testing"
)

// Large reports whether `make model` asks for the configurations that take minutes and
// gigabytes.
func Large() bool { return os.Getenv("REDLOCKRUN_MODEL") == "large" }

// A Checker is a model in one size.
type Checker interface {
	Check() (states int, err error)
}

// MustHold checks a configuration and that it is not smaller than expected: an
// exploration that goes nowhere would prove everything.
func MustHold(t testing.TB, c Checker, atLeast int) {
	t.Helper()
	states, err := c.Check()
	t.Logf("%+v: %d states", c, states)
	if err != nil {
		t.Errorf("%+v: %v", c, err)
	}
	if states < atLeast {
		t.Errorf("%+v: %d states, want at least %d", c, states, atLeast)
	}
}

// MustBreak checks that a configuration breaks its promise, and returns how.
func MustBreak(t testing.TB, c Checker) *Violation {
	t.Helper()
	states, err := c.Check()
	var found *Violation
	if !errors.As(err, &found) {
		t.Fatalf("%+v: nothing found in %d states", c, states)
	}
	t.Logf("%d states: %v", states, found)
	return found
}
