package runner

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// A Pause is the time between two commands. A signal to this process has the same effect as during
// the wait for the lock: it ends or suspends the process.
type Pause struct {
	Length time.Duration

	// Parked and Resumed work as in a [Command]: Parked is called before this process stops itself
	// (Ctrl-Z), Resumed after it was continued.
	Parked  func()
	Resumed func() error

	// Doubtful, if not nil, returns a channel that is closed when the lease is held again, and nil
	// while it is held. The pause lasts until then.
	Doubtful func() <-chan struct{}
}

// Wait waits for the end of the pause. The error is a *SignalError if a signal came before, the
// cause of ctx if that ended before, or the error of Resumed.
func (p *Pause) Wait(ctx context.Context, signals <-chan os.Signal) error {
	reapAgain()
	over := time.NewTimer(p.Length)
	defer over.Stop()
	var held <-chan struct{} // not nil: the time is over, and the lease is in doubt
	for {
		select {
		case <-held:
			return nil
		case <-over.C:
			if held = p.doubtful(); held == nil {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case sig := <-signals:
			if err := p.take(sig); err != nil {
				return err
			}
		}
	}
}

func (p *Pause) doubtful() <-chan struct{} {
	if p.Doubtful == nil {
		return nil
	}
	return p.Doubtful()
}

func (p *Pause) take(sig os.Signal) error {
	if meaningOf(sig).alone != suspends {
		return Interrupted(sig)
	}
	p.Parked()
	suspend(sig.(syscall.Signal), false)()
	if err := p.Resumed(); !errors.As(err, new(*StandsError)) {
		return err
	}
	return nil
}
