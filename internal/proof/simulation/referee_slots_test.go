package simulation

import (
	"errors"
	"slices"

	"redlockrun/internal/lock"
)

// sameSlot are the runs that had the lock for the same slot before.
func (r *referee) sameSlot(run *record) (others []*record) {
	for _, other := range r.ordered {
		if other != run && other.tick.slot == run.tick.slot && other.lease != nil {
			others = append(others, other)
		}
	}
	return others
}

// slotStarts: nothing runs for a slot whose work is known to be done, or whose tries are used up.
func (r *referee) slotStarts(run *record) {
	if run.tick.slot == "" || r.world.outside || r.world.forgetful() {
		return
	}
	failed := 0
	for _, other := range r.sameSlot(run) {
		switch {
		case r.slotsSince(other) >= mostSlots:
		case other.released && other.err == nil && other.how == lock.EndOk:
			r.breach("slot: %s starts, and %s has done the work", run.id, other.id)
		case other.released && other.err == nil && other.how != "", other.crashed && other.everywhere(r.world.machines):
			failed++
		}
	}
	if failed >= slotTries {
		r.breach("slot: %s starts, and %d have failed", run.id, failed)
	}
}

func (run *record) votes() (n int) {
	for _, given := range run.givers {
		if given {
			n++
		}
	}
	return n
}

// everywhere reports whether each of the masters has given a run the lock, so that any majority knows that it has
// begun.
func (run *record) everywhere(machines int) bool { return machines == 1 || run.votes() == machines }

// mostSlots is how many are kept; who comes for another's after so many others may find it forgotten.
const mostSlots = 16

// slotsSince counts the slots that had runs after a run, by their order or, as hosts come late, their ticks.
func (r *referee) slotsSince(run *record) int {
	since := make(map[string]bool)
	for _, other := range r.ordered {
		later := other.process.tick.at >= run.process.tick.at || other.fence > run.fence
		if other.had && other.tick.slot != run.tick.slot && other.tick.slot != "" && later {
			since[other.tick.slot] = true
		}
	}
	return len(since)
}

// slotsKept: no job keeps more slots than it is to.
func (r *referee) slotsKept() {
	for _, m := range r.world.servers {
		if n, _ := do(m.server, "HLEN", r.keys.Slots).(int64); n > mostSlots {
			r.breach("slot: s%d keeps %d", m.number, n)
		}
	}
}

// refused: who is turned away is told the truth.
func (r *referee) refused(run *record, err error) {
	var tries *lock.TriesExhaustedError
	var held *lock.HeldError
	switch {
	case errors.As(err, &held) && held.Holder.Run == run.id:
		r.breach("holder: %s is told that the lock is its own", run.id)
	case errors.As(err, new(*lock.SlotDoneError)):
		for _, other := range r.sameSlot(run) {
			if other.releasing && other.how == lock.EndOk {
				return
			}
		}
		r.breach("slot: %s is told that the work is done, and nobody has done it", run.id)
	case errors.As(err, &tries):
		failed := 0
		for _, other := range r.ordered {
			// else it looks as if it had vanished
			recorded := other.how == lock.EndOk && other.released && other.err == nil
			// it had the lock, and has said that it did nothing
			inVain := other.left && !other.started && !other.process.disturbed
			// whom an operator ends has failed
			inVain = inVain && !other.mayStop && !other.everFreed
			had := other.had || r.world.machines > 1 && r.ofMost(other)
			if other.tick.slot == run.tick.slot && had && !recorded && !inVain {
				failed++
			}
		}
		if failed < slotTries {
			r.breach("slot: %s is told that all tries have failed, and %d can have", run.id, failed)
		}
	}
}

// released: what is given back is free, or somebody else's, or rests.
func (r *referee) released(run *record) {
	if run.err == nil && run.tick.minHold == 0 && !run.dead && r.world.machines == 1 && r.holds(run.id, 0) > 0 {
		r.breach("release: %s has given the lock back, and has it", run.id)
	}
}

// leaves: who is turned away, and could say that it goes, is not in line any more.
func (r *referee) leaves(run *record) {
	if r.world.machines > 1 || run.process.disturbed {
		return
	}
	if m := r.world.servers[0]; !m.wasPolling() && slices.Contains(r.standing(m).line, run.id) {
		r.breach("line: %s has gone, and stands in line", run.id)
	}
}
