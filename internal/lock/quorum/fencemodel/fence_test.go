package fencemodel

import (
	"errors"
	"os"
	"testing"
)

// large reports whether `make model` asks for the configurations that take
// minutes and gigabytes.
func large() bool { return os.Getenv("REDLOCKRUN_MODEL") == "large" }

type checker interface {
	Check() (states int, err error)
}

// mustHold checks a configuration and that it is not smaller than expected: an
// exploration that goes nowhere would prove everything.
func mustHold(t *testing.T, c checker, atLeast int) {
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

func mustBreak(t *testing.T, c checker) {
	t.Helper()
	states, err := c.Check()
	var found *Violation
	if !errors.As(err, &found) {
		t.Fatalf("%+v: nothing found in %d states", c, states)
	}
	t.Logf("%d states: %v", states, found)
}

func TestQ9FenceHoldsWhateverHappens(t *testing.T) {
	for _, size := range []Fence{
		{Nodes: 3, Rounds: []int{1, 1}, Clocks: []uint8{0, 2}, Counters: []uint8{0, 0, 2}, Heal: true},
		{Nodes: 3, Rounds: []int{1, 1}, Clocks: []uint8{0, 3}, Counters: []uint8{0, 1, 2}, Heal: true},
	} {
		mustHold(t, size, 100_000)
	}
}

func TestQ9FenceHoldsOverAbandonedRounds(t *testing.T) {
	mustHold(t, Fence{Nodes: 3, Rounds: []int{2, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 0}}, 500_000)
}

// Each of these takes up to a minute and gigabytes.
func TestQ9FenceHoldsInLargerSizes(t *testing.T) {
	if !large() {
		return // make model sets REDLOCKRUN_MODEL=large; the sizes above run always
	}
	for _, size := range []Fence{
		{Nodes: 3, Rounds: []int{2, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 1}, Heal: true},
		{Nodes: 3, Rounds: []int{1, 1, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 0}},
		{Nodes: 4, Rounds: []int{1, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 1, 2}, Heal: true},
		{Nodes: 5, Rounds: []int{1, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 0, 0, 2}},
	} {
		mustHold(t, size, 300_000)
	}
}

func TestMutationOfFenceIsCaught(t *testing.T) {
	one, two := []int{1, 1}, []int{2, 1}
	for _, mutant := range []struct {
		name   string
		fault  Fault
		rounds []int
	}{
		{"no ownership check", RaiseBlindly, one},
		{"ownership of the run, not of the round", RaiseForTheRun, two},
		{"a node that did not count acknowledges", RaiseUncounted, one},
		{"use without a majority's acknowledgement", UseUnraised, one},
		{"a late vote counts", CountLateVotes, two},
		{"a node forgets its counter", ForgetCounters, one},
		{"a lower answer acknowledges", AcknowledgeLower, one},
	} {
		t.Run(mutant.name, func(t *testing.T) {
			mustBreak(t, Fence{
				Nodes: 3, Rounds: mutant.rounds, Clocks: []uint8{0}, Counters: []uint8{0, 0, 1}, Fault: mutant.fault,
			})
		})
	}
}
