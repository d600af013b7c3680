package fencemodel

import (
	"testing"

	"redlockrun/internal/proof/model"
)

func TestFenceModelHoldsWhateverHappens(t *testing.T) {
	for _, size := range []Fence{
		{Nodes: 3, Rounds: []int{1, 1}, Clocks: []uint8{0, 2}, Counters: []uint8{0, 0, 2}, Heal: true},
		{Nodes: 3, Rounds: []int{1, 1}, Clocks: []uint8{0, 3}, Counters: []uint8{0, 1, 2}, Heal: true},
	} {
		model.MustHold(t, size, 100_000)
	}
}

func TestFenceModelHoldsOverAbandonedRounds(t *testing.T) {
	model.MustHold(t, Fence{Nodes: 3, Rounds: []int{2, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 0}}, 500_000)
}

// Each of these takes up to a minute and gigabytes.
func TestFenceModelHoldsInLargerSizes(t *testing.T) {
	if !model.Large() {
		return // make model sets REDLOCKRUN_MODEL=large; the sizes above run always
	}
	for _, size := range []Fence{
		{Nodes: 3, Rounds: []int{2, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 1}, Heal: true},
		{Nodes: 3, Rounds: []int{1, 1, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 0}},
		{Nodes: 4, Rounds: []int{1, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 1, 2}, Heal: true},
		{Nodes: 5, Rounds: []int{1, 1}, Clocks: []uint8{0}, Counters: []uint8{0, 0, 0, 0, 2}},
	} {
		model.MustHold(t, size, 300_000)
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
			model.MustBreak(t, Fence{
				Nodes: 3, Rounds: mutant.rounds, Clocks: []uint8{0}, Counters: []uint8{0, 0, 1}, Fault: mutant.fault,
			})
		})
	}
}
