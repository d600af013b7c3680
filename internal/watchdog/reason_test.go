package watchdog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

var errReadonly = fmt.Errorf("ask: %w", &lock.Refusal{Code: "READONLY", Text: "READONLY no"})

// until is a lease at which each try fails with err up to the instant at, and from then on
// gets no answer in its time.
func until(t *testing.T, at time.Time, err error) *renewer {
	return &renewer{t: t, renew: func(ctx context.Context, sent time.Time) (time.Time, error) {
		if sent.Before(at) {
			return time.Time{}, err
		}
		<-ctx.Done()
		return time.Time{}, ctx.Err()
	}}
}

// The last try is cut short by T_term, or lasts beyond it: what was answered before says more.
func TestATryThatIsCutShortDoesNotHideWhyTheLeaseIsLost(t *testing.T) {
	for _, before := range []error{errReadonly, errRefused} {
		for part := range time.Duration(20) {
			synctest.Test(t, func(t *testing.T) {
				cfg := config(minute)
				cfg.Draw = func(below time.Duration) time.Duration { return below * part / 20 }
				silent := minute.Term(minute.End(time.Now())).Add(1 - minute.Try)
				if lost := mustLose(time.Hour, until(t, silent, before), cfg); !errors.Is(lost, before) {
					t.Errorf("with pauses of %d/20 it is lost for %v", part, lost)
				}
			})
		}
	}
}

// A server that has refused says what is wrong, also if it falls silent then.
func TestSilenceDoesNotHideARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := time.Now().Add(minute.Renew + minute.RetryDelay)
		if lost := mustLose(time.Hour, until(t, silent, errReadonly), config(minute)); !errors.Is(lost, errReadonly) {
			t.Errorf("kept: lost for %v", lost)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		cfg := alarmed(minute)
		r := until(t, time.Now().Add(1), errReadonly).aged(cfg, 3*minute.Try)
		if err := watchdog.Freshen(t.Context(), r, cfg); !errors.Is(err, errReadonly) || len(r.sent) < 2 {
			t.Errorf("freshened: %d tries: %v", len(r.sent), err)
		}
	})
}

// Without a refusal the error tells the end of an outage, not its beginning.
func TestTheLastReasonThatHadItsTimeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := time.Now().Add(minute.Renew + minute.RetryDelay)
		lost := mustLose(time.Hour, until(t, silent, errRefused), config(minute))
		if !errors.Is(lost, context.DeadlineExceeded) {
			t.Errorf("lost for %v", lost)
		}
	})
}

// The error tells a loss, whatever was refused before.
func TestALossSaysMoreThanARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := script(t, minute, errReadonly, lock.ErrTaken)
		if lost := mustLose(time.Hour, r, config(minute)); !errors.Is(lost, lock.ErrTaken) {
			t.Errorf("lost for %v", lost)
		}
	})
}
