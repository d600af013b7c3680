// Package watchdog keeps a lease alive, and says in good time when it cannot.
//
// All instants are of package boottime, so that a lease also runs out while
// the machine sleeps.
package watchdog

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/lock"

	"github.com/rs/zerolog"
)

// A Renewer is all that the watchdog needs of a lease.
type Renewer interface {
	// Renew makes one try, limited by ctx, and returns the new end of the lease.
	Renew(ctx context.Context) (until time.Time, err error)
}

// Config says how a lease is kept.
type Config struct {
	lock.Times // of the lease

	// Lease is what a message calls the lease; empty means "the lease".
	Lease string

	// Renewed, if not nil, is told each new end of the lease, from Run's goroutine.
	Renewed func(until time.Time)

	// Stats, if not nil, is filled by Run and may be read when Run has returned.
	Stats *Stats

	// Now is the clock; nil means boottime.Now.
	Now func() time.Time

	// alarm makes one for the same clock; nil means that there is none.
	alarm func() (alarm, error)

	// draw picks a duration below its argument; nil means at random.
	draw func(time.Duration) time.Duration
}

// Stats say how a lease was kept.
type Stats struct {
	Renewed int // renewals that succeeded
	Failed  int // tries that got no answer, or none that settles anything

	// Closest is the least time that was ever left until T_term, when the command
	// would have been stopped. It is zero or less if T_term was reached.
	Closest time.Duration
}

// A LostError says that ownership cannot be shown any longer.
type LostError struct {
	// Err is the last answer: an error that is lock.ErrLost (lock.ErrTaken if
	// somebody else has the lock), why the last renewal got no answer, or ErrLate.
	Err error

	// Kill is when SIGKILL is due at the latest. It may have passed.
	Kill time.Time
}

func (e *LostError) Error() string { return "keep lease: " + e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// ErrLate is the reason of a loss if T_term came before a renewal was tried:
// this process or the machine stood still.
var ErrLate = errors.New("this process or its machine stood still until it was too late to renew")

// Run renews the lease that ends at until, until ctx ends or T_term has come.
// It returns nil in the first case and a *LostError in the second, or as soon
// as the lease is definitely lost. A try is never sent at or after T_term; the
// answer of one that was sent before counts for as long as Run has not
// returned.
//
// Run starts no goroutine that outlives it, save a try that does not heed its
// context: for such a one it waits 25 ms at T_term and a second when ctx ends.
// It never makes two tries at a time.
func Run(ctx context.Context, lease Renewer, until time.Time, cfg Config, log zerolog.Logger) error {
	w := newWatch(lease, until, cfg, log)
	err := w.run(ctx)
	w.closest(w.Now())
	return err
}
