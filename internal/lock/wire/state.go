package wire

import (
	"time"

	"redlockrun/internal/lock"
)

// StateOfFree is the state of a job whose lock is free.
func StateOfFree(j *lock.Job) lock.State {
	switch {
	case j.Open.Run != "":
		return lock.StateVanished
	case j.Pause != nil:
		return lock.StatePaused
	}
	return lock.StateIdle
}

// StateOfHeld is the state of a job whose lock the holder has, or a pause.
func StateOfHeld(j *lock.Job, byPause bool) lock.State {
	_, late := j.Holder.Unrenewed(j.Left, j.At, j.Now)
	switch h := j.Holder; {
	case byPause:
		return lock.StatePaused
	case j.Left < 0:
		return lock.StateStuck
	case h.Run == "":
		return lock.StateForeign
	case !h.Ended.IsZero():
		return lock.StateEnded
	case handedOver(j):
		return lock.StateStarting
	case late:
		return lock.StateSilent
	}
	return lock.StateRunning
}

// roughly is between two clocks of ms.
const roughly = 100 * time.Millisecond

// handedOver reports whether the lock was handed over to the holder, which has not begun its
// lease: the ledger does not know it, and the lock was taken for less than its ttl.
func handedOver(j *lock.Job) bool {
	switch {
	case j.Open.Run == j.Holder.Run || j.Holder.TTL <= Unconfirmed:
		return false
	case j.At.IsZero() || j.Now.IsZero():
		return j.Left <= Unconfirmed
	}
	return j.Left <= Untold && j.Left+max(0, j.Now.Sub(j.At)) < j.Holder.TTL-roughly
}
