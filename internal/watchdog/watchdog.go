// Package watchdog keeps a lease while a command runs under it, and reports in good time when it
// cannot.
//
// All instants are those of package boottime, so that a lease also runs out while the machine
// sleeps.
package watchdog

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
)

// A Lease has the methods that the watchdog needs.
type Lease interface {
	// Until is the end of the lease, V.
	Until() time.Time

	// Renew makes one try, limited by ctx, and returns the new end of the lease. An error that is
	// lock.ErrLost is final; after any other the lease may be ours or not.
	Renew(ctx context.Context) (until time.Time, err error)

	// StopAsked reports whether an operator wants the run to end, according to the last renewal.
	StopAsked() bool
}

// Config says how a lease is kept.
type Config struct {
	lock.Times // of the lease

	// Timeout is how long Resume asks a store that does not answer.
	Timeout time.Duration

	// Continue says that the command runs on when its lease is lost.
	Continue bool

	// Stander, if not nil, makes the command stand still while its lease is in doubt. It is not set
	// together with Continue.
	Stander Stander

	// Cancel ends the command. Its argument is a *LostError (never with Continue), or an error of
	// the watchdog itself. Freshen alone does not need it.
	Cancel func(error)

	// Guard, if not nil, gets the instant at which the guard kills the command, whenever that
	// changes. With Continue it is not called.
	Guard func(at time.Time)

	// Observer, if not nil, is told what happens to the lease.
	Observer Observer

	Clock *boottime.Clock // nil: the machine's
	Draw  lock.Draw       // nil: at random
}

// tellGuard moves the guard's deadline: there the guard acts only if this process does not.
func (c *Config) tellGuard(until time.Time) {
	if c.Guard != nil && !c.Continue {
		c.Guard(c.GuardKill(until))
	}
}

// An Observer is told what happens to a lease, by one call at a time. Neither it nor Cancel nor
// Guard may block: they are called between renewals.
type Observer interface {
	// Failed reports a try without an answer, or without a decisive one. tries counts the failures
	// since the last success, err says why this one failed, and left is the time until T_term.
	Failed(tries int, err error, left time.Duration)

	// Recovered reports that the lease is renewed again after so many failed tries.
	Recovered(tries int)

	// StopAsked reports, once, that an operator wants the run to end. The lease is kept as before.
	StopAsked()

	// Continues reports that the lease is lost, if the command runs on (Config.Continue).
	Continues(*LostError)

	// Regained reports that the lease is held again: no other run can have held it meanwhile.
	Regained()
}

// Stats say how a lease was kept.
type Stats struct {
	Renewed int // renewals that succeeded beside the command
	Failed  int // tries without an answer, or without a decisive one

	// Closest is the least time that was ever left until T_term, when the command would have been
	// stopped. It is zero or less if T_term was reached.
	Closest time.Duration

	// Stood is for how long the command has stood still.
	Stood time.Duration

	// Lost is why ownership cannot be shown any longer; nil if it can.
	Lost *LostError
}

// A LostError says that ownership cannot be shown any longer.
type LostError struct {
	// Err is the last answer. It is lock.ErrLost (lock.ErrTaken if another run has the lock), the
	// clearest error of the renewals (see lock.ClearerError), or ErrLate.
	Err error

	// Kill is when SIGKILL is due at the latest. It may have passed.
	Kill time.Time
}

func (e *LostError) Error() string { return "keep lease: " + e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// ErrLate is the reason of a loss if T_term came before a renewal was tried: this process or the
// machine stood still.
var ErrLate = errors.New("this process or its host was suspended until it was too late to renew")

// killTaken is the time between SIGTERM and SIGKILL when another run may already have the lock.
const killTaken = time.Second

// unobserved is an Observer that ignores everything.
type unobserved struct{}

func (unobserved) Failed(int, error, time.Duration) {}
func (unobserved) Recovered(int)                    {}
func (unobserved) StopAsked()                       {}
func (unobserved) Continues(*LostError)             {}
func (unobserved) Regained()                        {}
