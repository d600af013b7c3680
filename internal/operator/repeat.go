package operator

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"redlockrun/internal/interrupt"
	"redlockrun/internal/runner"
)

// A repetition reads a value again and again, until q or a signal ends it. A failed reading does
// not end it.
type repetition[T any] struct {
	every   time.Duration // from the end of one reading to the beginning of the next
	read    func(context.Context) (T, error)
	show    func(last T, away error) error // gets the last value, and why there is no later one
	keys    <-chan byte                    // nil: there is no keyboard
	changed <-chan struct{}                // asks for another show; nil: never
}

// run shows value, then each value that it reads.
func (r repetition[T]) run(signals <-chan os.Signal, value T) error {
	ctx, cancel := context.WithCancel(context.Background())
	next := interrupt.Start(ctx, r.later)
	defer func() { cancel(); <-next }()
	for away := error(nil); ; {
		if err := r.show(value, away); err != nil {
			return err
		}
		select {
		case a := <-next:
			if away = a.Err; away == nil {
				value = a.Value
			}
			next = interrupt.Start(ctx, r.later)
		case <-r.changed:
		case key := <-r.keys:
			if key == 'q' || key == 'Q' {
				return nil
			}
		case sig := <-signals:
			if ended := runner.Interrupted(sig); ended != nil {
				return unlessWanted(ended)
			}
		}
	}
}

func (r repetition[T]) later(ctx context.Context) (value T, err error) {
	pause := time.NewTimer(r.every)
	defer pause.Stop()
	select {
	case <-pause.C:
		return r.read(ctx)
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// unlessWanted returns err, or nil for a signal with which a user ends an endless command.
func unlessWanted(err error) error {
	signalled, ok := errors.AsType[*runner.SignalError](err)
	if ok && (signalled.Signal == syscall.SIGINT || signalled.Signal == syscall.SIGTERM) {
		return nil
	}
	return err
}
