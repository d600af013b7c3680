package watchdog_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/watchdog"
)

func TestAnIdleWatchdogWakesUpOnlyToRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := alarmed(minute)
		r := replies(t, minute, 0, nil)
		mustKeep(time.Hour, r, cfg)
		renewals := len(r.tries())
		if renewals < 3600/20 {
			t.Errorf("%d renewals in an hour", renewals)
		}
		if each := float64(cfg.Clock.Looks()) / float64(renewals); each > 10 {
			t.Errorf("the clock was looked at %.0f times for each renewal", each)
		}
	})
}

func TestWithAnAlarmASleepOfTheMachineIsNoticedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, start := alarmed(minute), time.Now()
		time.AfterFunc(10300*time.Millisecond, func() { cfg.Clock.Sleep(time.Hour) })
		lost := mustLose(time.Hour, replies(t, minute, 0, nil), cfg)
		if noticed := time.Since(start) - 10300*time.Millisecond; !errors.Is(lost, watchdog.ErrLate) || noticed != 0 {
			t.Errorf("%v, after %v", lost, noticed)
		}
	})
}

func TestWithAnAlarmASleepShorterThanTheLeaseIsFollowedByARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := alarmed(minute)
		time.AfterFunc(5*time.Second, func() { cfg.Clock.Sleep(30 * time.Second) })
		r := replies(t, minute, 0, nil)
		mustKeep(5001*time.Millisecond, r, cfg)
		if len(r.tries()) != 1 {
			t.Errorf("%d renewals, want 1 on waking up", len(r.tries()))
		}
	})
}

func TestWhereThereIsNoAlarmTheClockIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(minute)
		time.AfterFunc(5300*time.Millisecond, func() { cfg.Clock.Sleep(time.Hour) })
		if lost := mustLose(7*time.Second, replies(t, minute, 0, nil), cfg); !errors.Is(lost, watchdog.ErrLate) {
			t.Errorf("%v", lost)
		}
	})
}
