package lock

import "time"

// Vanished reports whether the run that the ledger believes to be running has no lock any
// more: it died without a word, or goes on without its lock.
func (j *Job) Vanished() bool {
	return j.Open.Run != "" && j.State != "" && j.Holder.Run != j.Open.Run
}

// StateOfFree is the state of a job whose lock nobody has.
func (j *Job) StateOfFree() State {
	switch {
	case j.Open.Run != "":
		return Gone
	case j.Pause != nil:
		return PausedJob
	}
	return Idle
}

// StateOfHeld is the state of a job whose lock the holder has, or a pause.
func (j *Job) StateOfHeld(byPause bool) State {
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
	case j.handedOver():
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
func (j *Job) handedOver() bool {
	switch {
	case j.Open.Run == j.Holder.Run || j.Holder.TTL <= kept:
		return false
	case j.At.IsZero() || j.Now.IsZero():
		return j.Left <= kept
	}
	return j.Left <= keptUncalled && j.Left+max(0, j.Now.Sub(j.At)) < j.Holder.TTL-roughly
}

// RenewsWithin is after how long a holder that lives has renewed its lease: it may miss one
// renewal and two tries of it.
func (h Holder) RenewsWithin() time.Duration { return h.Every + 2*TimesOf(h.TTL).Try }

// Unrenewed is for how long a holder has not renewed a lease that it has since at, and of which
// so much is left now; late is whether that is longer than it should be: it is dead, frozen or
// cut off then. A lease that never ends tells nothing.
func (h Holder) Unrenewed(left time.Duration, at, now time.Time) (d time.Duration, late bool) {
	if h.TTL <= 0 || h.Every <= 0 || left < 0 {
		return 0, false
	}
	d = max(0, h.TTL-left)
	if !at.IsZero() && !now.IsZero() {
		d = min(d, max(0, now.Sub(at)))
	}
	return d, d > h.RenewsWithin()
}
