package lock

import (
	"context"
	"time"
)

// An Operator changes what a store does with its jobs. Several goroutines may use it.
type Operator interface {
	// Change makes an operator's change to a job.
	Change(ctx context.Context, name string, c Change) (ChangeResult, error)
}

// A Change is an operator's request.
type Change struct {
	Act         Act
	By          Holder // its Run is the id of the change, fresh for each Change
	Reason      string
	Run         string // of ActStop, ActUnlock: only this run; "": any holder
	PauseReason string // of ActResume: only a pause with this Reason, if MatchReason

	MatchReason bool
	For         time.Duration // of ActPause, and of ActStop with ThenPause; Forever has no end
	ThenPause   bool          // of ActStop: pause the job, too
	Foreign     bool          // of ActUnlock: the lock's value is not our record
	OnlyEnded   bool          // of ActUnlock: the record must say that its run has ended
}

// ActForget removes what is remembered about a job. The ledger does not record it.
const ActForget Act = "forget"

// A ChangeResult describes the job after a change. All times are the store's.
type ChangeResult struct {
	Done   bool // now; false: it was so before, or there was nothing to do it to
	Now    time.Time
	Holder Holder        // the holder before; zero: no run
	At     time.Time     // since when
	Left   time.Duration // of its lease; negative: it never expires by itself
	Pause  *PauseMark    // the pause that applies now; of ActResume: the one that ended
	Next   Waiter        // the first waiter after the change; Run is "" if there is none
	Ran    bool          // the job has run in the last 90 days
	Absent []string      // masters of a quorum that did not answer

	// Holders are the runs that had permits of the job before, the oldest first. One of them is the Holder.
	Holders []PermitHolder

	// Unconfirmed says that an answer was lost. The wanted state holds; whether this change made it,
	// and how things were before, is unknown.
	Unconfirmed bool
}

// An UnconfirmedError says that a change may have been made, or in a quorum made in part, although
// no answer came.
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

// A RefusedError says that a change was not made, because the state of the job does not allow it.
type RefusedError struct {
	Name         string
	Refusal      Objection
	ChangeResult // how things are
}

// An Objection is the reason why a change was not made.
type Objection int

// The reasons.
const (
	_            Objection = iota
	OtherRun               // another run than the named one has the lock
	OtherPause             // the pause has another reason
	NotOurs                // the lock's value is not our record
	StillPaused            // a pause has the lock, or waits for it
	StillHeld              // a run has the lock
	StillRunning           // the record does not show the end of the run
	SeveralRuns            // several runs have permits of the job, and the change names none
)

// Code is the answer of a step that objects: -10 and below.
func (o Objection) Code() int64 { return -9 - int64(o) }

// ObjectionOf returns the objection behind the code of an answer; 0 if there is none.
func ObjectionOf(code int64) Objection {
	if code <= OtherRun.Code() && code >= StillRunning.Code() {
		return Objection(-9 - code)
	}
	return 0
}

// ActHistory is how many runs the ledger keeps after an act, so that the act drops none: the next
// run cuts the lists to its own limit.
const ActHistory = 10_000
