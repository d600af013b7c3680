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

// suspended is a lease that was kept for five seconds and lies still since then.
func suspended(r *renewer, cfg watchdog.Config) keeping {
	k := keep(r, cfg)
	time.Sleep(5 * time.Second)
	k.Suspend()
	return k
}

// resumable is a configuration whose Resume asks for so long.
func resumable(timeout time.Duration) watchdog.Config {
	cfg := alarmed(minute)
	cfg.Timeout = timeout
	return cfg
}

// resumes resumes and wants the loss, or none.
func (k keeping) resumes(t *testing.T, want error) *watchdog.LostError {
	t.Helper()
	err := k.Resume(t.Context())
	var lost *watchdog.LostError
	if (err == nil) != (want == nil) || err != nil && (!errors.As(err, &lost) || !errors.Is(err, want)) {
		t.Fatalf("resumed with %v, want %v", err, want)
	}
	return lost
}

func TestASuspendedLeaseIsNotRenewedUntilItIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, cfg := replies(t, minute, 0, nil), resumable(5*time.Second)
		var told []time.Time
		cfg.Guard = func(at time.Time) { told = append(told, at) }
		k := suspended(r, cfg)
		time.Sleep(time.Hour)
		if len(r.tries()) != 0 || len(told) != 1 {
			t.Errorf("%d tries, and the guard was told %d times, while suspended", len(r.tries()), len(told))
		}
		resumed := time.Now()
		k.resumes(t, nil)
		stats := k.stopAfter(t, time.Hour)
		if stats.Lost != nil || stats.Renewed < 180 || stats.Renewed != len(r.sent)-1 || stats.Closest <= 0 {
			t.Errorf("%d renewals, the first to resume: %+v", len(r.sent), stats)
		}
		if r.sent[0] != resumed || len(told) != len(r.sent)+1 || told[1] != minute.GuardKill(minute.End(resumed)) {
			t.Errorf("resumed at %v: tried at %v, and told the guard %v", resumed, r.sent[:2], told[:2])
		}
	})
}

func TestStatsAreThoseOfTheWholeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := script(t, minute, errRefused, nil, nil, errRefused, nil)
		cfg := resumable(5 * time.Second)
		cfg.Draw = func(time.Duration) time.Duration { return 0 }
		k := keep(r, cfg)
		time.Sleep(22 * time.Second) // a failure and a success
		k.Suspend()
		k.resumes(t, nil)
		want := watchdog.Stats{Renewed: 2, Failed: 2, Closest: life(minute) - minute.Renew - minute.RetryDelay}
		if stats := k.stopAfter(t, 22*time.Second); stats != want {
			t.Errorf("%+v, want %+v", stats, want)
		}
	})
}

// The answer depends on its lock alone; after a loss SIGKILL comes soon.
func TestASuspendedLeaseThatIsLostIsNotResumed(t *testing.T) {
	for _, c := range []struct {
		slept  time.Duration
		answer error
		tries  int
		kill   time.Duration // from the answer
	}{
		{0, lock.ErrTaken, 1, time.Second},
		{0, lock.ErrLost, 1, time.Second},
		{life(minute), lock.ErrTaken, 1, 5 * time.Second},
		{time.Hour, lock.ErrLost, 1, 0},
		{0, errRefused, 5, time.Second},
		{time.Hour, errRefused, 5, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, cfg := replies(t, minute, 0, c.answer), resumable(5*time.Second)
			cfg.Draw = func(time.Duration) time.Duration { return 0 }
			k := suspended(r, cfg)
			until := r.Until()
			time.Sleep(c.slept)
			lost := k.resumes(t, c.answer)
			kill := time.Now().Add(time.Second)
			if end := minute.Kill(until); end.Before(kill) {
				kill = end
			}
			if len(r.tries()) != c.tries || !lost.Kill.Equal(kill) {
				t.Errorf("suspended for %v: %d tries, SIGKILL in %v, want %d, %v",
					c.slept, len(r.tries()), time.Until(lost.Kill), c.tries, time.Until(kill))
			}
			if stats := k.Stop(); stats.Lost != lost || len(k.cancelled) != 0 {
				t.Errorf("lost for %v, and %d times halted", stats.Lost, len(k.cancelled))
			}
			time.Sleep(time.Hour)
			if len(r.tries()) != c.tries {
				t.Errorf("%d tries after the loss", len(r.tries())-c.tries)
			}
		})
	}
}

func TestResumeAsksUntilThereIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := script(t, minute, errRefused, errRefused, nil)
		k := suspended(r, resumable(5*time.Second))
		k.resumes(t, nil)
		for i, sent := range r.sent[1:] {
			if gap := sent.Sub(r.sent[i]); gap < minute.RetryDelay/2 || gap > minute.RetryDelay {
				t.Errorf("a pause of %v", gap)
			}
		}
		if stats := k.stopAfter(t, time.Second); stats.Lost != nil || len(r.sent) != 3 {
			t.Errorf("%d tries, %+v", len(r.sent), stats)
		}
	})
}

func TestEachTryOfResumeHasItsOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &renewer{t: t, renew: func(ctx context.Context, sent time.Time) (time.Time, error) {
			<-ctx.Done()
			if limit := time.Since(sent); limit != minute.Try {
				t.Errorf("a limit of %v", limit)
			}
			return time.Time{}, ctx.Err()
		}}
		k := suspended(r, resumable(5*time.Second))
		start := time.Now()
		k.resumes(t, context.DeadlineExceeded)
		if took := time.Since(start); len(r.sent) != 2 || took > 5*time.Second+minute.Try {
			t.Errorf("%d tries in %v", len(r.sent), took)
		}
		k.Stop()
	})
}

func TestALeaseThatWasLostBeforeItWasSuspendedIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := script(t, minute, lock.ErrTaken)
		k := keep(r, resumable(5*time.Second))
		halted := <-k.cancelled
		k.Suspend()
		if lost := k.resumes(t, lock.ErrTaken); error(lost) != halted || len(r.sent) != 1 {
			t.Errorf("halted for %v, resumed with %v, after %d tries", halted, lost, len(r.sent))
		}
		k.Stop()
	})
}

func TestAnEndWhileResumingIsTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		k := suspended(replies(t, minute, 0, errRefused), resumable(time.Hour))
		time.AfterFunc(time.Minute+time.Microsecond, func() { cancel(why) })
		if err := k.Resume(ctx); !errors.Is(err, why) {
			t.Errorf("resumed with %v", err)
		}
		k.Stop()
	})
}

func TestStopMayFollowASuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := suspended(replies(t, minute, 0, nil), resumable(time.Second))
		if stats := k.Stop(); stats.Lost != nil || stats.Closest != life(minute)-5*time.Second {
			t.Errorf("%+v", stats)
		}
	})
}

func TestAfterSuspendAndStopNoTryIsUnderWay(t *testing.T) {
	for _, stop := range []func(keeping){func(k keeping) { k.Suspend() }, func(k keeping) { k.Stop() }} {
		synctest.Test(t, func(t *testing.T) {
			r := &renewer{t: t, renew: func(ctx context.Context, _ time.Time) (time.Time, error) {
				<-ctx.Done()
				time.Sleep(resolveAtEnd / 2) // slow to obey
				return time.Time{}, ctx.Err()
			}}
			k := keep(r, alarmed(minute))
			time.Sleep(minute.Renew + time.Millisecond)
			stop(k)
			if len(r.sent) != 1 || r.busy {
				t.Errorf("%d tries, one under way: %v", len(r.sent), r.busy)
			}
			time.Sleep(time.Hour)
			if len(r.tries()) != 1 {
				t.Errorf("%d tries after the end", len(r.tries())-1)
			}
		})
	}
}
