package watchdog_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

// continuing returns a configuration for a command that runs on without its lease, and the diary
// of its observer.
func continuing() (watchdog.Config, *diary) {
	cfg, seen := alarmed(minute), new(diary)
	cfg.Continue, cfg.Observer, cfg.Draw = true, seen, func(time.Duration) time.Duration { return 0 }
	return cfg, seen
}

// losses are the entries about more than a single try.
func (d *diary) losses() *diary {
	return &diary{slices.DeleteFunc(d.entries, func(e string) bool { return e[:4] == "try " })}
}

// stays keeps the lease for d, during which nothing halts the command.
func (k keeping) stays(t *testing.T, d time.Duration) watchdog.Stats {
	t.Helper()
	time.Sleep(d)
	stats := k.Stop()
	if len(k.cancelled) != 0 {
		t.Errorf("halted for %v", <-k.cancelled)
	}
	return stats
}

// outageFor refuses every try that is made before d has passed.
func outageFor(t *testing.T, d time.Duration, then error) *renewer {
	start := time.Now()
	return &renewer{t: t, renew: func(_ context.Context, sent time.Time) (time.Time, error) {
		if sent.Sub(start) < d {
			return time.Time{}, errRefused
		}
		return minute.End(sent), then
	}}
}

func TestALeaseThatIsLostForNowIsRegained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := continuing()
		r, start := outageFor(t, 3*time.Minute, nil), time.Now()
		stats := keep(r, cfg).stays(t, 10*time.Minute)
		seen.losses().says(t, "runs on: dial: connection refused", "regained")
		if stats.Lost != nil || stats.Closest > 0 || stats.Renewed < 18 {
			t.Errorf("%+v", stats)
		}
		for i, sent := range r.sent[1:] {
			lost := r.sent[i].Sub(start) > life(minute) && r.sent[i].Sub(start) < 3*time.Minute
			if gap := sent.Sub(r.sent[i]); lost && gap != minute.Renew {
				t.Errorf("%v between two tries of a lease that is lost", gap)
			}
		}
	})
}

func TestALeaseThatIsLostForGoodIsNotAskedForAgain(t *testing.T) {
	for _, final := range []error{lock.ErrLost, lock.ErrTaken} {
		synctest.Test(t, func(t *testing.T) {
			cfg, seen := continuing()
			r := replies(t, minute, 0, final)
			stats := keep(r, cfg).stays(t, time.Hour)
			seen.says(t, "runs on: "+final.Error())
			if !errors.Is(stats.Lost, final) || len(r.sent) != 1 {
				t.Errorf("%d tries, lost for %v", len(r.sent), stats.Lost)
			}
		})
	}
}

func TestALossForNowMayTurnOutToBeForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := continuing()
		r := outageFor(t, 3*time.Minute, lock.ErrTaken)
		stats := keep(r, cfg).stays(t, time.Hour)
		seen.losses().says(t, "runs on: dial: connection refused", "runs on: "+lock.ErrTaken.Error())
		if last := r.sent[len(r.sent)-1]; !errors.Is(stats.Lost, lock.ErrTaken) || time.Since(last) < 50*time.Minute {
			t.Errorf("asked %v ago, lost for %v", time.Since(last), stats.Lost)
		}
	})
}

func TestALeaseMayBeLostAndRegainedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := continuing()
		for _, at := range []time.Duration{301 * time.Second, 609 * time.Second} {
			time.AfterFunc(at, func() { cfg.Clock.Sleep(time.Hour) })
		}
		r := &renewer{t: t, renew: func(context.Context, time.Time) (time.Time, error) {
			return cfg.End(cfg.Clock.Now()), nil
		}}
		stats := keep(r, cfg).stays(t, 15*time.Minute)
		late := "runs on: " + watchdog.ErrLate.Error()
		seen.says(t, late, "regained", late, "regained")
		if stats.Lost != nil || stats.Closest > -59*time.Minute {
			t.Errorf("%+v", stats)
		}
	})
}

func TestStopDoesNotWaitForTheNextTryToRegain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := continuing()
		k, start := keep(outageFor(t, time.Hour, nil), cfg), time.Now()
		if stats := k.stays(t, 2*time.Minute); stats.Lost == nil || time.Since(start) != 2*time.Minute {
			t.Errorf("stopped after %v: %+v", time.Since(start), stats)
		}
	})
}

func TestTheGuardKillsNothingThatRunsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := continuing()
		cfg.Guard = func(at time.Time) { t.Errorf("it is to kill the command in %v", time.Until(at)) }
		keep(replies(t, minute, 0, nil), cfg).stays(t, 5*time.Minute)
	})
}

func TestASuspendedLeaseThatRunsOnIsRegained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := continuing()
		r := outageFor(t, time.Hour+time.Minute, nil)
		k := suspended(r, cfg)
		time.Sleep(time.Hour)
		k.resumes(t, nil)
		stats := k.stays(t, 10*time.Minute)
		seen.losses().says(t, "runs on: dial: connection refused", "regained")
		if stats.Lost != nil || stats.Closest > 0 || stats.Renewed < 20 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestASuspendedLeaseThatIsLostForGoodRunsOnAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := continuing()
		r := replies(t, minute, 0, lock.ErrTaken)
		k := suspended(r, cfg)
		for range 3 {
			time.Sleep(time.Minute)
			k.resumes(t, nil)
			k.Suspend()
		}
		stats := k.stays(t, time.Hour)
		seen.says(t, "runs on: "+lock.ErrTaken.Error())
		if !errors.Is(stats.Lost, lock.ErrTaken) || len(r.sent) != 1 {
			t.Errorf("%d tries, %+v", len(r.sent), stats)
		}
	})
}
