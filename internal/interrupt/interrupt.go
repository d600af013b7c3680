// Package interrupt runs slow work that a signal can cancel.
package interrupt

import (
	"context"
	"fmt"
	"os"
	"time"

	"redlockrun/internal/runner"
)

// undoLimit bounds the time that a cancelled call gets if Redis does not answer.
const undoLimit = 1500 * time.Millisecond

// A Result is the result of an interruptible call.
type Result[T any] struct {
	Value T
	Err   error
}

// Run calls do and handles signals meanwhile. A signal that ends redlockrun cancels do's context
// and becomes the error; do's value is still returned. After a second signal, or undoLimit, Run
// returns without waiting for do.
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

// AtOnce calls do, which reads files, and returns without it at the first signal that ends
// redlockrun: a read from a network file system whose server is down may never end.
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

// Start calls do in a goroutine. The channel has room for the result.
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
