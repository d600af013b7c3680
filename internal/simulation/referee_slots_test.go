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
		case other.released && other.err == nil && other.how == lock.Ok:
			r.breach("slot: %s starts, and %s has done the work", run.id, other.id)
		case other.released && other.err == nil && other.how != "", other.crashed && r.world.machines == 1:
			failed++
		}
	}
	if failed >= slotTries {
		r.breach("slot: %s starts, and %d have failed", run.id, failed)
	}
}

// refused: who is turned away is told the truth.
func (r *referee) refused(run *record, err error) {
	var tries *lock.TriesError
	switch {
	case errors.As(err, new(*lock.DoneError)):
		for _, other := range r.sameSlot(run) {
			if other.releasing && other.how == lock.Ok {
				return
			}
		}
		r.breach("slot: %s is told that the work is done, and nobody has done it", run.id)
	case errors.As(err, &tries):
		failed := 0
		for _, other := range r.ordered {
			recorded := other.how == lock.Ok && other.released && other.err == nil // else it looks as if it had vanished
			if other.tick.slot == run.tick.slot && (other.had || r.world.machines > 1 && r.ofMost(other)) && !recorded {
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
	if run.err == nil && run.tick.minHold == 0 && !run.dead && r.world.machines == 1 && r.holds(run.id) > 0 {
		r.breach("release: %s has given the lock back, and has it", run.id)
	}
}

// leaves: who is turned away, and could say that it goes, is not in line any more.
func (r *referee) leaves(run *record) {
	if r.world.machines > 1 || run.process.disturbed {
		return
	}
	if m := r.world.servers[0]; !m.wasDeaf() && slices.Contains(r.standing(m).line, run.id) {
		r.breach("line: %s has gone, and stands in line", run.id)
	}
}
