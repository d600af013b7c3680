package watchdog_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

// aged gives the lease the end that it has if it was asked for age ago.
func (r *renewer) aged(cfg watchdog.Config, age time.Duration) *renewer {
	r.lasts(cfg.End(cfg.Clock.Now().Add(-age)))
	return r
}

func TestALeaseThatTookLongerThanOneTryIsFreshened(t *testing.T) {
	for age, tries := range map[time.Duration]int{
		0: 0, minute.Try: 0, minute.Try + 1: 1, life(minute): 1, time.Hour: 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := alarmed(minute)
			r := replies(t, minute, 0, nil).aged(cfg, age)
			if err := watchdog.Freshen(t.Context(), r, cfg); err != nil || len(r.sent) != tries {
				t.Errorf("after %v: %d tries, want %d: %v", age, len(r.sent), tries, err)
			}
		})
	}
}

func TestFresheningEndsAtTTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := alarmed(minute)
		r := replies(t, minute, 0, errRefused).aged(cfg, 40*time.Second)
		term := minute.Term(r.until)
		err := watchdog.Freshen(t.Context(), r, cfg)
		if left := time.Until(term); !errors.Is(err, errRefused) || left <= 0 || left > minute.RetryDelay {
			t.Errorf("gave up %v before T_term: %v", left, err)
		}
		for _, sent := range r.sent {
			if !sent.Before(term) {
				t.Errorf("a try %v after T_term", sent.Sub(term))
			}
		}
	})
}

func TestFresheningTakesALossForAnAnswer(t *testing.T) {
	for _, final := range []error{lock.ErrLost, lock.ErrTaken} {
		synctest.Test(t, func(t *testing.T) {
			cfg := alarmed(minute)
			r := script(t, minute, errRefused, final).aged(cfg, 3*time.Second)
			if err := watchdog.Freshen(t.Context(), r, cfg); !errors.Is(err, final) || len(r.sent) != 2 {
				t.Errorf("%d tries: %v", len(r.sent), err)
			}
		})
	}
}

func TestFresheningEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		cfg, start := alarmed(minute), time.Now()
		r := &renewer{t: t, renew: func(ctx context.Context, _ time.Time) (time.Time, error) {
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		}}
		err := watchdog.Freshen(ctx, r.aged(cfg, 3*time.Second), cfg)
		if !errors.Is(err, why) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// The machine slept during the pause between two tries.
func TestAfterAPauseTheDeadlineIsLookedAtBeforeAnythingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := alarmed(minute)
		r := replies(t, minute, 0, errRefused).aged(cfg, 3*time.Second)
		time.AfterFunc(minute.RetryDelay/4, func() { cfg.Clock.Sleep(time.Hour) })
		if err := watchdog.Freshen(t.Context(), r, cfg); !errors.Is(err, errRefused) || len(r.sent) != 1 {
			t.Errorf("%d tries: %v", len(r.sent), err)
		}
	})
}
