// Package interrupt runs slow work that a signal can end.
package interrupt

import (
	"context"
	"fmt"
	"os"
	"time"

	"redlockrun/internal/runner"
)

// undoLimit bounds what ending a wait may take if Redis does not answer.
const undoLimit = 1500 * time.Millisecond

// A Result is what came of a call that signals may interrupt.
type Result[T any] struct {
	Value T
	Err   error
}

// Run does something slow while it attends to signals. One that ends
// redlockrun ends do's context and becomes the error, beside whatever do
// returned; a second one, or undoLimit, does not wait for do.
func Run[T any](signals <-chan os.Signal, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := Start(ctx, do)
	var ended error
	var limit <-chan time.Time
	for {
		select {
		case a := <-done:
			if ended != nil {
				a.Err = ended
			}
			return a.Value, a.Err
		case <-limit:
			return Result[T]{}.Value, ended
		case sig := <-signals:
			err := runner.Interrupted(sig)
			if ended != nil && err != nil {
				return Result[T]{}.Value, ended
			}
			if err != nil {
				ended, limit = err, time.After(undoLimit)
				cancel(err)
			}
		}
	}
}

// AtOnce does something that reads files, and leaves it behind at the first signal that ends
// redlockrun: nothing may end a read from a network file system whose server is gone.
func AtOnce[T any](signals <-chan os.Signal, do func() (T, error)) (T, error) {
	done := Start(context.Background(), func(context.Context) (T, error) { return do() })
	for {
		select {
		case a := <-done:
			return a.Value, a.Err
		case sig := <-signals:
			if err := runner.Interrupted(sig); err != nil {
				return Result[T]{}.Value, err
			}
		}
	}
}

// Start calls do beside the caller. The channel has room for what comes of it.
func Start[T any](ctx context.Context, do func(context.Context) (T, error)) <-chan Result[T] {
	done := make(chan Result[T], 1)
	go func() {
		var a Result[T]
		defer func() { done <- a }()
		defer func() {
			if r := recover(); r != nil {
				a.Err = fmt.Errorf("wait for the lock: panic: %v", r)
			}
		}()
		a.Value, a.Err = do(ctx)
	}()
	return done
}
