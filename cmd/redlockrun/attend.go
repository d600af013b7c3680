package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"redlockrun/internal/runner"
)

// undoLimit bounds what ending a wait may take if Redis does not answer.
const undoLimit = 1500 * time.Millisecond

// An attended call is one that signals may interrupt.
type attended[T any] struct {
	value T
	err   error
}

// attend does something slow while it attends to signals. One that ends
// redlockrun ends do's context and becomes the error, beside whatever do
// returned; a second one, or undoLimit, does not wait for do.
func attend[T any](signals <-chan os.Signal, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := begin(ctx, do)
	var ended error
	var limit <-chan time.Time
	for {
		select {
		case a := <-done:
			if ended != nil {
				a.err = ended
			}
			return a.value, a.err
		case <-limit:
			return attended[T]{}.value, ended
		case sig := <-signals:
			err := runner.Interrupted(sig)
			if ended != nil && err != nil {
				return attended[T]{}.value, ended
			}
			if err != nil {
				ended, limit = err, time.After(undoLimit)
				cancel(err)
			}
		}
	}
}

// atOnce does something that reads files, and leaves it behind at the first signal that ends
// redlockrun: nothing may end a read from a network file system whose server is gone.
func atOnce[T any](signals <-chan os.Signal, do func() (T, error)) (T, error) {
	done := begin(context.Background(), func(context.Context) (T, error) { return do() })
	for {
		select {
		case a := <-done:
			return a.value, a.err
		case sig := <-signals:
			if err := runner.Interrupted(sig); err != nil {
				return attended[T]{}.value, err
			}
		}
	}
}

// begin calls do beside the caller. The channel has room for what comes of it.
func begin[T any](ctx context.Context, do func(context.Context) (T, error)) <-chan attended[T] {
	done := make(chan attended[T], 1)
	go func() {
		var a attended[T]
		defer func() { done <- a }()
		defer func() {
			if r := recover(); r != nil {
				a.err = fmt.Errorf("wait for the lock: panic: %v", r)
			}
		}()
		a.value, a.err = do(ctx)
	}()
	return done
}
