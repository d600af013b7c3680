// Package watchdog keeps a lease alive, and says in good time when it cannot.
package watchdog

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// A Renewer is all that the watchdog needs of a lease.
type Renewer interface {
	// Renew makes one try, limited by ctx, and returns the new end of the lease.
	Renew(ctx context.Context) (until time.Time, err error)
}

// Config are the times of the watchdog; see lock.Times.
type Config struct {
	Every  time.Duration // from one renewal to the next, before up to a tenth is taken off
	Try    time.Duration // the limit of one try
	Pause  time.Duration // between tries, jittered
	Grace  time.Duration // between T_term and T_kill
	Margin time.Duration // between T_kill and the end of the lease

	// Renewed, if not nil, is told each new end of the lease.
	Renewed func(until time.Time)

	// Now is the clock; nil means boottime.Now.
	Now func() time.Time
}

// A LostError says that ownership cannot be shown any longer.
type LostError struct {
	// Err is the last answer: an error that is lock.ErrLost (lock.ErrTaken if
	// somebody else has the lock), or why the last renewal got no answer.
	Err error

	// Kill is when SIGKILL is due at the latest.
	Kill time.Time
}

func (e *LostError) Error() string { return "keep lease: " + e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// Run renews the lease that ends at until, until ctx ends or T_term has come.
// It returns nil in the first case and a *LostError in the second, or as soon
// as the lease is definitely lost. It starts no goroutine that outlives it,
// save a try that does not heed its context.
func Run(ctx context.Context, lease Renewer, until time.Time, cfg Config, log zerolog.Logger) error {
	panic("not built yet")
}
