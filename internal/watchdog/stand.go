package watchdog

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/lock"
)

// A Stander makes the command stand still while its lease is in doubt. Its methods must not block.
type Stander interface {
	// StandStill stops the command: it must not run after lost.Kill.
	StandStill(lost *LostError)

	// GoOn continues the command, which has stood still for so long. If by has passed the command
	// stays stopped, and StandStill follows.
	GoOn(by time.Time, stood time.Duration)

	// Stands reports once a minute for how long the command has stood still, and the last answer.
	Stands(stood time.Duration, lost *LostError)
}

// A retaker is a Lease whose lock can be taken back after it has vanished, as lock.Retaker says.
type retaker interface {
	Retake(ctx context.Context) (until time.Time, err error)
}

const (
	// longestStand is how long a command stands still at most. Then it is killed.
	longestStand = 24 * time.Hour

	// standReminder is the time between two reports that it stands still.
	standReminder = time.Minute
)

// A StandsError is returned by Resume if the command must stand still.
type StandsError struct{ Lost *LostError }

func (e *StandsError) Error() string { return "stand still: " + e.Lost.Error() }
func (e *StandsError) Unwrap() error { return e.Lost }

// limit is the instant from which a lease without an answer is lost. A command that stands still
// needs no grace: one try is enough to see it stopped.
func (c *Config) limit(until time.Time) time.Time {
	if c.Stander != nil {
		return c.Kill(until).Add(-c.Try)
	}
	return c.Term(until)
}

// mayStand reports whether the command stands still after a loss: it can be ours again.
func (k *Keeper) mayStand(err error) bool {
	_, retakes := k.lease.(retaker)
	return k.cfg.Stander != nil && (retakes || !errors.Is(err, lock.ErrLost))
}

// stand makes the command stand still until the lease is held again.
func (k *Keeper) stand(lost *LostError) {
	now := k.cfg.Clock.Now()
	k.stats.Lost = lost
	k.standing, k.since, k.reminded = true, now, now
	k.cfg.Stander.StandStill(&LostError{lost.Err, earliest(lost.Kill, now.Add(k.cfg.Try))})
}

// standUntilHeld asks for the lease while the command stands still. It returns false if ctx ended,
// or the lease is lost for good.
func (k *Keeper) standUntilHeld(ctx context.Context) bool {
	for k.standing {
		err := k.askAgain(ctx)
		now := k.cfg.Clock.Now()
		switch {
		case err == nil:
			k.goOn(now)
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, lock.ErrLost), now.Sub(k.since) >= longestStand:
			k.cfg.Cancel(k.giveUp(err, now))
			return false
		case now.Sub(k.reminded) >= standReminder:
			k.reminded = now
			k.cfg.Stander.Stands(now.Sub(k.since), &LostError{Err: err})
		}
		if !lock.Sleep(ctx, k.cfg.Draw.Jitter(k.cfg.RetryDelay)) {
			return false
		}
	}
	return false
}

// askAgain makes one try to have a lease that is in doubt.
func (k *Keeper) askAgain(ctx context.Context) error {
	err := k.cfg.renew(ctx, k.lease)
	back, ok := k.lease.(retaker)
	if !ok || !errors.Is(err, lock.ErrLost) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, k.cfg.Try)
	defer cancel()
	_, err = back.Retake(ctx)
	return err
}

// goOn lets a command that stands still go on under the lease, unless an operator wants its end.
func (k *Keeper) goOn(now time.Time) {
	stood := k.stopStanding(now)
	k.stats.Lost = nil
	k.stats.Renewed++
	k.cfg.tellGuard(k.lease.Until())
	k.renewed()
	if !k.asked {
		k.cfg.Stander.GoOn(k.cfg.limit(k.lease.Until()), stood)
	}
}

// giveUp notes that the lease of a command that stands still is lost for good.
func (k *Keeper) giveUp(err error, now time.Time) *LostError {
	k.stopStanding(now)
	k.stats.Lost = &LostError{err, now}
	return k.stats.Lost
}

// stopStanding ends the time for which the command stands still, and returns it.
func (k *Keeper) stopStanding(now time.Time) (stood time.Duration) {
	if k.standing {
		stood = now.Sub(k.since)
	}
	k.standing = false
	k.stats.Stood += stood
	return stood
}

// resumeStanding is Resume for a command that stands still rather than end.
func (k *Keeper) resumeStanding(ctx context.Context) error {
	if k.stats.Lost != nil && !k.standing {
		return k.stats.Lost
	}
	err := k.askAgain(ctx)
	now := k.cfg.Clock.Now()
	switch {
	case errors.Is(err, lock.ErrLost):
		return k.giveUp(err, now)
	case err != nil && !k.standing:
		k.stand(&LostError{err, k.cfg.Kill(k.lease.Until())})
	case err == nil && k.standing:
		k.goOn(now)
	case err == nil:
		k.renewed()
	}
	stands, lost := k.standing, k.stats.Lost
	k.Start()
	if stands {
		return &StandsError{lost}
	}
	return nil
}
