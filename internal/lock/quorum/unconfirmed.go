package quorum

import (
	"cmp"
	"slices"
	"strings"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// Each master notes to whom it has given the lock, and whether that run had a majority it
// cannot know. So that somebody has run, and is gone without a word, is believed only of a
// majority of the masters. What a run has said itself is believed of any.

// runsOf are the runs in doubt at one master.
func runsOf(lines string) (runs []string) {
	for line := range strings.Lines(lines) {
		if e, ok := wire.ReadEntry(strings.TrimSuffix(line, "\n")); ok && e.Run != "" {
			runs = append(runs, e.Run)
		}
	}
	return runs
}

// vanished are the runs that had the lock before and are gone.
func vanished(votes []vote) (runs []string) {
	masters := make(map[string]int)
	for _, v := range votes {
		for _, run := range slices.Compact(slices.Sorted(slices.Values(v.unconfirmed))) {
			if masters[run]++; masters[run] == lock.Majority(len(votes)) {
				runs = append(runs, run)
			}
		}
	}
	return runs
}

// slotOf is what masters say of one slot together. Of a master that did not say anything the
// state is zero, and nobody has begun who has the lock there.
func slotOf(states []lock.SlotState) (all lock.SlotState) {
	unconfirmed := make(map[string]int) // how many masters have each run as begun
	seen := make(map[string]bool)
	fail := func(t lock.Try) {
		if !seen[t.Run] {
			seen[t.Run] = true
			all.Failures = append(all.Failures, t)
		}
	}
	for _, s := range states {
		if s.Closed {
			return lock.SlotState{Closed: true, By: s.By}
		}
		for _, t := range s.Failures {
			if t.End != "" {
				fail(t)
			}
		}
	}
	for _, s := range states {
		for _, t := range unconfirmedTries(s) {
			if unconfirmed[t.Run]++; unconfirmed[t.Run] == lock.Majority(len(states)) {
				t.End = lock.EndVanished
				fail(t)
			}
		}
	}
	slices.SortStableFunc(all.Failures, func(a, b lock.Try) int { return cmp.Compare(ended(a), ended(b)) })
	return all
}

// unconfirmedTries are the runs that have begun at a master and not said how they ended.
func unconfirmedTries(s lock.SlotState) (tries []lock.Try) {
	for _, t := range append(slices.Clone(s.Failures), s.Begun) {
		known := slices.ContainsFunc(tries, func(other lock.Try) bool { return other.Run == t.Run })
		if t.Run != "" && t.End == "" && !known {
			tries = append(tries, t)
		}
	}
	return tries
}

// ended is when a try ended, in ms; what is unknown was last.
func ended(t lock.Try) int64 {
	if t.Ended.IsZero() {
		return 1<<63 - 1
	}
	return t.Ended.UnixMilli()
}

// slotFinished is the answer to a run for whose slot nothing is to be done any more; nil if
// there is something, or if it has none. That is said also where no majority can be had.
func (p *poll) slotFinished() error {
	slot := p.req.Slot
	if slot.Name == "" {
		return nil
	}
	switch s := p.slot(); {
	case s.Closed:
		return &lock.SlotDoneError{Name: p.req.Name, Slot: slot.Name, By: s.By}
	case len(s.Failures) >= slot.Tries:
		return &lock.TriesExhaustedError{Name: p.req.Name, Slot: slot.Name, Tries: slot.Tries, Failures: s.Failures}
	}
	return nil
}

// undecided reports whether it depends on masters that have yet to answer if somebody has
// begun in the slot and vanished.
func (p *poll) undecided() bool {
	if p.req.Slot.Name == "" || p.pending == 0 {
		return false
	}
	masters := make(map[string]int)
	for _, s := range p.slots() {
		for _, t := range unconfirmedTries(s) {
			masters[t.Run]++
		}
	}
	for _, n := range masters {
		if need := lock.Majority(p.quorum.size); n < need && n+p.pending >= need {
			return true
		}
	}
	return false
}

// slot is what the masters that have voted know of the run's slot.
func (p *poll) slot() lock.SlotState { return slotOf(p.slots()) }

func (p *poll) slots() []lock.SlotState {
	states := make([]lock.SlotState, len(p.votes))
	for i, v := range p.votes {
		states[i] = v.slot
		if begun := v.slot.Begun.Run; begun == p.req.Holder.Run || begun == v.held.Holder.Run {
			states[i].Begun = lock.Try{}
		}
	}
	return states
}

// vanishedTries are the tries of the slot that count as failed although their runs have not
// said so.
func (p *poll) vanishedTries() (runs []string) {
	for _, t := range p.slot().Failures {
		if t.End == lock.EndVanished {
			runs = append(runs, t.Run)
		}
	}
	return runs
}
