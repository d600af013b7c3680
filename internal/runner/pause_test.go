package runner_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/runner"
)

// pauseForAMinute waits for a pause of a minute, and says how long it took.
func pauseForAMinute(ctx context.Context, signals <-chan os.Signal) (time.Duration, error) {
	began := time.Now()
	p := runner.Pause{Length: time.Minute}
	err := p.Wait(ctx, signals)
	return time.Since(began), err
}

func TestAPauseLastsAsLongAsItIsToLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 3)
		signals <- syscall.SIGWINCH
		signals <- syscall.SIGCONT
		if took, err := pauseForAMinute(t.Context(), signals); took != time.Minute || err != nil {
			t.Errorf("%v, %v", took, err)
		}
	})
}

func TestASignalThatEndsAProgramEndsAPauseAtOnce(t *testing.T) {
	for _, sig := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
	} {
		synctest.Test(t, func(t *testing.T) {
			signals := make(chan os.Signal, 1)
			time.AfterFunc(time.Second, func() { signals <- sig })
			took, err := pauseForAMinute(t.Context(), signals)
			signalled, ok := errors.AsType[*runner.SignalError](err)
			if !ok || signalled.Signal != sig || took != time.Second {
				t.Errorf("signal %d: %v, %v", sig, took, err)
			}
		})
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		if took, err := pauseForAMinute(ctx, nil); took != time.Second || !errors.Is(err, why) {
			t.Errorf("%v, %v", took, err)
		}
	})
}
