package runner

import (
	"context"
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
}

// Wait waits for the end of the pause. The error is a *SignalError if a signal came before, the
// cause of ctx if that ended before, or the error of Resumed.
func (p *Pause) Wait(ctx context.Context, signals <-chan os.Signal) error {
	reapAgain()
	over := time.NewTimer(p.Length)
	defer over.Stop()
	for {
		select {
		case <-over.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case sig := <-signals:
			if err := p.take(sig); err != nil {
				return err
			}
		}
	}
}

func (p *Pause) take(sig os.Signal) error {
	if meaningOf(sig).alone != suspends {
		return Interrupted(sig)
	}
	p.Parked()
	suspend(sig.(syscall.Signal), false)()
	return p.Resumed()
}
