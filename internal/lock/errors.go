package lock

import (
	"cmp"
	"fmt"
)

func (e *HeldError) Error() string {
	if e.Full {
		return fmt.Sprintf("lock %q has reached its limit of waiters", e.Name)
	}
	if e.Pause != nil {
		return fmt.Sprintf("lock %q is paused by %s", e.Name, Escaped(e.Pause.By))
	}
	if e.Permits != nil {
		return e.Permits.describe(e.Name, e.Holder)
	}
	return fmt.Sprintf("lock %q is held by %s", e.Name, e.Holder)
}

// describe says who is in the way; holder is one of them.
func (p *PermitState) describe(name string, holder Holder) string {
	switch {
	case p.Gate && holder.All:
		return fmt.Sprintf("all permits of %q are held by %s", name, holder)
	case p.Gate:
		return fmt.Sprintf("permits of %q are first collected by %s", name, holder)
	case p.Wanted == 0:
		return fmt.Sprintf("permits of %q are in use, one is held by %s", name, holder)
	case p.Free == 0:
		return fmt.Sprintf("all %d permits of %q are in use, one is held by %s", p.Of, name, holder)
	}
	return fmt.Sprintf("%d of %d permits of %q are free, %d are wanted; one is held by %s",
		p.Free, p.Of, name, p.Wanted, holder)
}

func (e *SlotDoneError) Error() string {
	return fmt.Sprintf("slot %q of %q is already done", e.Slot, e.Name)
}

func (e *TriesExhaustedError) Error() string {
	have := "have"
	if len(e.Failures) == 1 {
		have = "has"
	}
	return fmt.Sprintf("slot %q of %q has no tries left: %d %s failed", e.Slot, e.Name, len(e.Failures), have)
}

// StatusStopped is the exit status of a run that an operator stopped before its command started:
// as after SIGTERM.
const StatusStopped = 143

func (e *StoppedError) Error() string {
	return fmt.Sprintf("an operator stopped the run of %q", e.Name)
}

func (e *NestedError) Error() string {
	if e.Permits {
		return fmt.Sprintf("an outer redlockrun already holds a permit of %q: %s", e.Name, e.Holder)
	}
	return fmt.Sprintf("an outer redlockrun already holds lock %q: %s", e.Name, e.Holder)
}

func (e *UnavailableError) Error() string { return fmt.Sprintf("ask %s: %v", e.Address, e.Err) }
func (e *UnavailableError) Unwrap() error { return e.Err }

func (e *NotLockError) Error() string {
	return fmt.Sprintf("key %q is %s, not %s", e.Key, e.What, cmp.Or(e.Wanted, "a lock"))
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("lock %q belongs to a newer redlockrun (protocol %d): upgrade redlockrun on this host",
		e.Name, e.Protocol)
}

func (e *RefusedError) Error() string {
	switch e.Refusal {
	case OtherRun:
		return fmt.Sprintf("change job %q: another run has the lock", e.Name)
	case OtherPause:
		return fmt.Sprintf("change job %q: it is paused for another reason", e.Name)
	case NotOurs:
		return fmt.Sprintf("change job %q: redlockrun did not create its lock", e.Name)
	case StillPaused:
		return fmt.Sprintf("change job %q: it is paused", e.Name)
	case StillHeld:
		return fmt.Sprintf("change job %q: a run has the lock", e.Name)
	}
	return fmt.Sprintf("change job %q: its run has not ended", e.Name)
}

func (e *FileTimeoutError) Error() string {
	return fmt.Sprintf("cannot read %s: the file system did not answer in time", e.Subject)
}

func (e *ConfigError) Error() string { return fmt.Sprintf("cannot use %s: %s", e.Subject, e.Problem) }

// TypeName describes a key of another type, as TYPE names it; "" if the type is unknown.
func TypeName(t string) string {
	if t == "" {
		return "not a string"
	}
	return "a " + Escaped(t)
}
