package watchdog

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/lock"
)

// Freshen renews a lease that took longer than one try to acquire, so that a command starts with
// nearly all of it. It tries until T_term. The error is lock.ErrLost, the cause of ctx's end, or
// the clearest error of the tries.
func Freshen(ctx context.Context, lease Lease, cfg Config) error {
	until := lease.Until()
	if cfg.Clock.Now().Sub(cfg.Sent(until)) <= cfg.Try {
		return nil
	}
	return cfg.ask(ctx, lease, cfg.Term(until))
}

// ask renews the lease as soon as there is an answer, or until by.
func (c *Config) ask(ctx context.Context, lease Lease, by time.Time) error {
	var last error
	for {
		err := c.renew(ctx, lease)
		if err == nil || errors.Is(err, lock.ErrLost) {
			return err
		}
		last = lock.ClearerError(last, err, true)
		pause := c.Draw.Jitter(c.RetryDelay)
		if c.Clock.Until(by) <= pause {
			return last
		}
		if !lock.Sleep(ctx, pause) {
			return context.Cause(ctx)
		}
		if c.Clock.Until(by) <= 0 { // the machine was asleep
			return last
		}
	}
}

// renew makes one try.
func (c *Config) renew(ctx context.Context, lease Lease) error {
	ctx, cancel := context.WithTimeout(ctx, c.Try)
	defer cancel()
	_, err := lease.Renew(ctx)
	return err
}
