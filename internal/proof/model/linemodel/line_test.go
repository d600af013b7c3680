package linemodel

import (
	"strings"
	"testing"

	"redlockrun/internal/proof/model"
)

func TestQueueModelHandsOverWhateverHappens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size    Line
		atLeast int
	}{
		{Line{Runs: 2, Lapses: 1, Losses: 1, Cuts: 1, Deaths: 1, Quits: 1}, 100_000},
		{Line{Runs: 3, Losses: 1}, 9_000},
		{Line{Runs: 3, Cuts: 1, Quits: 1}, 10_000},
	} {
		model.MustHold(t, c.size, c.atLeast)
	}
}

// Each of these takes minutes and gigabytes.
func TestQueueModelHandsOverInLargerSizes(t *testing.T) {
	if !model.Large() {
		return // make model sets REDLOCKRUN_MODEL=large; the sizes above run always
	}
	for _, size := range []Line{
		{Runs: 2, Lapses: 2, Losses: 2, Cuts: 2, Deaths: 2, Quits: 2},
		{Runs: 3, Lapses: 1, Losses: 1, Cuts: 1},
		{Runs: 3, Lapses: 1, Losses: 1, Deaths: 1, Quits: 1},
		{Runs: 4, Losses: 1},
		{Runs: 4, Lapses: 1, Cuts: 1},
		{Runs: 4, Deaths: 1, Quits: 1},
	} {
		model.MustHold(t, size, 50_000)
	}
}

func TestMutationOfLineIsCaught(t *testing.T) {
	t.Parallel()
	for _, mutant := range []struct {
		name    string
		promise string // that is broken
		size    Line
	}{
		{"wake-up without a grant", "the lock is free", Line{Runs: 2, Fault: WakeOnly}},
		{"the next one is called before the lock is deleted", "the lock is free", Line{Runs: 2, Fault: NotifyFirst}},
		{"who is called begins, and asks nobody", "two runs hold", Line{Runs: 3, Lapses: 1, Fault: BelieveMessage}},
		{"no window to confirm", "whole lease", Line{Runs: 2, Deaths: 1, Fault: WholeLease}},
		{"delete without compare", "two runs hold", Line{Runs: 3, Losses: 1, Fault: DeleteBlindly}},
		{"who gives up only leaves the line", "has left", Line{Runs: 2, Quits: 1, Fault: LeaveQuietly}},
		{"no tombstone", "has left", Line{Runs: 2, Losses: 1, Quits: 1, Fault: NoTombstone}},
		{"acquire does not know its own run", "for its own lock", Line{Runs: 2, Losses: 1, Fault: OwnIsBusy}},
		{"nobody counts who hears a call", "not there", Line{Runs: 2, Cuts: 1, Fault: AskNobody}},
		{"waiters look only when they are called", "for ever", Line{Runs: 2, Losses: 1, Fault: NeverLook}},
		{"a lease is counted from its answer", "two runs hold", Line{Runs: 2, Lapses: 1, Fault: CountFromAnswer}},
		{"the fence is a counter without a clock", "a fence is not larger",
			Line{Runs: 2, Cuts: 1, Fault: CounterAlone}},
		{"who came last is served first", "undisturbed", Line{Runs: 3, Fault: LastFirst}},
	} {
		t.Run(mutant.name, func(t *testing.T) {
			if found := model.MustBreak(t, mutant.size); !strings.Contains(found.Promise, mutant.promise) {
				t.Errorf("refuted by %q, want %q", found.Promise, mutant.promise)
			}
		})
	}
}
