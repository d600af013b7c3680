// Package watchdog keeps a lease while a command runs under it, and says in good
// time when it cannot.
//
// All instants are of package boottime, so that a lease also runs out while
// the machine sleeps.
package watchdog

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
)

// A Lease is all that the watchdog needs of one.
type Lease interface {
	// Until is the end of the lease, V.
	Until() time.Time

	// Renew makes one try, limited by ctx, and returns the new end of the lease. An
	// error that is lock.ErrLost is final; after any other it may be ours or not.
	Renew(ctx context.Context) (until time.Time, err error)

	// StopAsked reports whether an operator wants the run to end, as the last renewal
	// has brought it.
	StopAsked() bool
}

// Config says how a lease is kept.
type Config struct {
	lock.Times // of the lease

	// Timeout is how long Resume asks a store that does not answer.
	Timeout time.Duration

	// Continue says that the command runs on when its lease is lost.
	Continue bool

	// Cancel ends the command. It is told a *LostError, unless Continue is set, or that
	// the watchdog itself has failed. Freshen alone does without.
	Cancel func(error)

	// Guard, if not nil, is told at which instant the guard is to kill the command,
	// whenever that changes. With Continue there is none.
	Guard func(at time.Time)

	// Observer, if not nil, is told what becomes of the lease.
	Observer Observer

	Clock *boottime.Clock // nil: the machine's
	Draw  lock.Draw       // nil: at random
}

// tellGuard moves the guard's deadline: there it acts only if this process does not.
func (c *Config) tellGuard(until time.Time) {
	if c.Guard != nil && !c.Continue {
		c.Guard(c.GuardKill(until))
	}
}

// An Observer is told what becomes of a lease, by one call at a time. Neither it nor
// Cancel nor Guard may block: they are called between renewals.
type Observer interface {
	// Failed is told of a try that got no answer, or none that settles anything: how
	// many have failed since the last success, why this one did, and what is left
	// until T_term.
	Failed(tries int, err error, left time.Duration)

	// Recovered is told that the lease is renewed again after so many tries failed.
	Recovered(tries int)

	// StopAsked is told, once, that a renewal has brought an operator's wish that the run
	// end. The lease is kept as before.
	StopAsked()

	// Continues is told that the lease is lost, if the command runs on (Config.Continue).
	Continues(*LostError)

	// Regained is told that the lease is held again: nobody else can have had it.
	Regained()
}

// Stats say how a lease was kept.
type Stats struct {
	Renewed int // renewals that succeeded beside the command
	Failed  int // tries that got no answer, or none that settles anything

	// Closest is the least time that was ever left until T_term, when the command
	// would have been stopped. It is zero or less if T_term was reached.
	Closest time.Duration

	// Lost is why ownership cannot be shown any longer; nil if it can.
	Lost *LostError
}

// A LostError says that ownership cannot be shown any longer.
type LostError struct {
	// Err is the last answer: an error that is lock.ErrLost (lock.ErrTaken if
	// somebody else has the lock), what says most of why no renewal got an answer
	// (see lock.ClearerError), or ErrLate.
	Err error

	// Kill is when SIGKILL is due at the latest. It may have passed.
	Kill time.Time
}

func (e *LostError) Error() string { return "keep lease: " + e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// ErrLate is the reason of a loss if T_term came before a renewal was tried:
// this process or the machine stood still.
var ErrLate = errors.New("this process or its machine stood still until it was too late to renew")

// killTaken is the time between SIGTERM and SIGKILL when somebody else may work
// under the lock already.
const killTaken = time.Second

// unobserved is the Observer of who wants to know nothing.
type unobserved struct{}

func (unobserved) Failed(int, error, time.Duration) {}
func (unobserved) Recovered(int)                    {}
func (unobserved) StopAsked()                       {}
func (unobserved) Continues(*LostError)             {}
func (unobserved) Regained()                        {}
