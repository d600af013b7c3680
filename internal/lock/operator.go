package lock

import (
	"context"
	"time"
)

// An Operator changes what a store does with its jobs. It may be used by several goroutines.
type Operator interface {
	// Change does one thing to one job, in one step, which may be repeated; in a quorum it is
	// a step of each master, and made when a majority has made it. Its errors are
	// *RefusedError, *NotLockError, *UnavailableError, or the cause of ctx; the last two in an
	// *UnconfirmedError if the change may have been made.
	Change(ctx context.Context, name string, c Change) (ChangeResult, error)
}

// A Change is what an operator wants done.
type Change struct {
	Act         Act
	By          Holder // whose Run is the change's own id, fresh for each Change
	Reason      string
	Run         string // of ActStop, ActUnlock: only this run; "": whichever has the lock
	PauseReason string // of ActResume: only a pause with this Reason, if MatchReason

	MatchReason bool
	For         time.Duration // of ActPause, and of ActStop with ThenPause; Forever has no end
	ThenPause   bool          // of ActStop: nobody starts after it
	Foreign     bool          // of ActUnlock: the lock is somebody else's value
	OnlyEnded   bool          // of ActUnlock: the record must say that its run has ended
}

// ActForget removes what is remembered of a job; it is entered nowhere.
const ActForget Act = "forget"

// A ChangeResult is how things are after a change. All times are the store's.
type ChangeResult struct {
	Done   bool // now; false: it was so before, or there was nothing to do it to
	Now    time.Time
	Holder Holder        // who had the lock before; zero: nobody, or a pause
	At     time.Time     // since when
	Left   time.Duration // of its lease; negative: it never expires by itself
	Pause  *PauseMark    // the pause that is wanted now; of ActResume: the one that has ended
	Next   Waiter        // the first in line, after the change; Run is "" if nobody waits
	Ran    bool          // the job has run in the last 90 days
	Absent []string      // masters of a quorum that did not answer

	// Unconfirmed says that an answer was lost: what this change was for is so, but whether it did it,
	// and how things were before, nobody knows.
	Unconfirmed bool
}

// An UnconfirmedError says that a change may have been made, or in a quorum made in part, though no answer came.
type UnconfirmedError struct{ Err error }

func (e *UnconfirmedError) Error() string { return e.Err.Error() }
func (e *UnconfirmedError) Unwrap() error { return e.Err }

// Unconfirmed is err of a change that may have been made.
func Unconfirmed(err error, unconfirmed bool) error {
	if !unconfirmed || err == nil {
		return err
	}
	return &UnconfirmedError{err}
}

// A RefusedError says that a change was not made, as things are not what it is for.
type RefusedError struct {
	Name         string
	Refusal      Objection
	ChangeResult // how things are
}

// An Objection is why a change was not made.
type Objection int

// The reasons.
const (
	_            Objection = iota
	OtherRun               // another run has the lock than the one that was named
	OtherPause             // the pause has another reason
	NotOurs                // the lock is somebody else's value
	StillPaused            // a pause has the lock, or is wanted
	StillHeld              // a run has the lock
	StillRunning           // the record does not say that the run has ended
)

// Code is what a step answers that objects: -10 and below.
func (o Objection) Code() int64 { return -9 - int64(o) }

// ObjectionOf is what the code of an answer objects; 0 if it does not.
func ObjectionOf(code int64) Objection {
	if code <= OtherRun.Code() && code >= StillRunning.Code() {
		return Objection(-9 - code)
	}
	return 0
}

// ActHistory is how many runs an act leaves, so that it washes none away: the next run cuts
// the lists to its own measure.
const ActHistory = 10_000
