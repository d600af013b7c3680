package session

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/capture"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

var (
	errSilent = &lock.UnavailableError{Address: "db:6379", Err: context.DeadlineExceeded}
	succeeded = runResult{attempts: 1}
	hasFailed = runResult{status: runner.Status{Code: 3}, attempts: 1}
)

// afterLoss is r of a run that lost its lock before its end.
func afterLoss(r runResult, why error) runResult {
	r.stats.Lost = &watchdog.LostError{Err: why}
	return r
}

// silent answers nothing until ctx ends.
func silent(ctx context.Context) error {
	<-ctx.Done()
	return errSilent
}

// forSlot is a session of a run for a slot, whose messages go to out.
func forSlot(signals chan os.Signal, out *capture.Output) *session {
	s := fakeSession(signals)
	s.config.Slot = lock.Slot{Name: "1d 2026-03-01", Tries: 2}
	s.Console = console.New(console.Warning, false, out.Add)
	return s
}

func TestTheReleaseRecordsTheResultAlsoAfterALoss(t *testing.T) {
	for _, r := range []runResult{
		succeeded, hasFailed,
		afterLoss(succeeded, lock.ErrTaken), afterLoss(hasFailed, lock.ErrLost), afterLoss(succeeded, watchdog.ErrLate),
		{err: unstarted(127)}, {err: &runner.SignalError{Signal: syscall.SIGTERM}},
	} {
		s, lease := fakeSession(nil), &fakeLease{}
		s.releaseAfterRun(lease, r)
		if len(lease.released) != 1 || lease.released[0].Result != r.forRecord(s.about) {
			t.Errorf("%+v: released %+v", r, lease.released)
		}
	}
}

func TestMessagesAboutARelease(t *testing.T) {
	const unreleased, gone, unrecorded = "cannot release lock", "was already lost",
		"done, but not recorded: it may run again"
	for _, c := range []struct {
		slot   bool
		result runResult
		err    error
		says   string
	}{
		{false, succeeded, nil, ""},
		{false, succeeded, errSilent, unreleased},
		{false, succeeded, lock.ErrLost, gone},
		{false, afterLoss(succeeded, lock.ErrTaken), lock.ErrTaken, ""},
		{false, afterLoss(succeeded, watchdog.ErrLate), errSilent, ""},
		{true, succeeded, nil, ""},
		{true, succeeded, errSilent, unrecorded},
		{true, succeeded, lock.ErrTaken, gone},
		{true, afterLoss(succeeded, lock.ErrTaken), lock.ErrTaken, ""},
		{true, afterLoss(succeeded, watchdog.ErrLate), errSilent, unrecorded},
		{true, hasFailed, errSilent, unreleased},
		{true, afterLoss(hasFailed, watchdog.ErrLate), errSilent, ""},
	} {
		var out capture.Output
		s := forSlot(nil, &out)
		if !c.slot {
			s.config.Slot = lock.Slot{}
		}
		s.releaseAfterRun(&fakeLease{release: func(context.Context) error { return c.err }}, c.result)
		s.Console.Flush(time.Minute)
		if got := out.String(); !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("slot %v, %+v, %v: %q", c.slot, c.result, c.err, got)
		}
	}
}

func TestTheReleaseForASlotIsTriedUntilTheEndOfTheLease(t *testing.T) {
	for _, c := range []struct {
		slot   bool
		left   time.Duration
		result runResult
		want   time.Duration
	}{
		{false, 40 * time.Second, succeeded, lock.ReleaseLimit},
		{true, 40 * time.Second, succeeded, 40 * time.Second},
		{true, 40 * time.Second, hasFailed, 40 * time.Second},
		{true, time.Second, succeeded, lock.ReleaseLimit},
		{true, -time.Second, afterLoss(succeeded, watchdog.ErrLate), lock.ReleaseLimit},
		{true, 40 * time.Second, runResult{err: &runner.SignalError{Signal: syscall.SIGTERM}}, lock.ReleaseLimit},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out capture.Output
			s, began := forSlot(nil, &out), time.Now()
			s.Console = console.Console{}
			if !c.slot {
				s.config.Slot = lock.Slot{}
			}
			s.releaseAfterRun(&fakeLease{release: silent, until: boottime.Now().Add(c.left)}, c.result)
			if took := time.Since(began); took.Round(100*time.Millisecond) != c.want {
				t.Errorf("slot %v, %v left: it took %v, want %v", c.slot, c.left, took, c.want)
			}
		})
	}
}

func TestASignalEndsTheRetriesOfARelease(t *testing.T) {
	for sig, ends := range map[syscall.Signal]bool{
		syscall.SIGTERM: true, syscall.SIGINT: true, syscall.SIGHUP: true, syscall.SIGQUIT: true,
		syscall.SIGUSR1: false, syscall.SIGWINCH: false, syscall.SIGCONT: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			signals := make(chan os.Signal, 2)
			time.AfterFunc(time.Second, func() { signals <- sig; signals <- sig })
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := untilSignalled(ctx, signals, silent)
			var told *runner.SignalError
			want := time.Minute
			if ends {
				want = time.Second + lock.GiveUpLimit
			}
			if took := time.Since(began); took != want || errors.As(err, &told) != ends {
				t.Errorf("signal %d: %v after %v", sig, err, took)
			}
		})
	}
}

// A signal that has come with the command's end does not keep the slot open.
func TestASignalDoesNotSpoilAnAnsweredRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGTERM
		err := untilSignalled(t.Context(), signals, func(ctx context.Context) error {
			if !lock.Sleep(ctx, lock.GiveUpLimit/2) {
				return errSilent
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
