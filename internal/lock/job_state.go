package lock

import "time"

// StateOfFree is the state of a job whose lock nobody has.
func StateOfFree(j *Job) State {
	switch {
	case j.Open.Run != "":
		return Gone
	case j.Pause != nil:
		return PausedJob
	}
	return Idle
}

// StateOfHeld is the state of a job whose lock the holder has, or a pause.
func StateOfHeld(j *Job, byPause bool) State {
	_, late := j.Holder.Unrenewed(j.Left, j.At, j.Now)
	switch h := j.Holder; {
	case byPause:
		return PausedJob
	case j.Left < 0:
		return Stuck
	case h.Run == "":
		return Foreign
	case !h.Ended.IsZero():
		return Ended
	case handedOver(j):
		return Starting
	case late:
		return Silent
	}
	return Running
}

// A hand-over that its run has not confirmed yet is kept for it for so long; a run that could
// not be called looks by itself.
const (
	kept         = 2 * time.Second
	keptUncalled = 6 * time.Second
	roughly      = 100 * time.Millisecond // between two clocks of ms
)

// handedOver reports whether the lock has been given to the holder, who has not begun its
// lease: the ledger does not know it, and the lock was taken for less than its ttl.
func handedOver(j *Job) bool {
	switch {
	case j.Open.Run == j.Holder.Run || j.Holder.TTL <= kept:
		return false
	case j.At.IsZero() || j.Now.IsZero():
		return j.Left <= kept
	}
	return j.Left <= keptUncalled && j.Left+max(0, j.Now.Sub(j.At)) < j.Holder.TTL-roughly
}
