package watchdog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// alarmed is a configuration for a minute with a clock that has an alarm.
func alarmed() (*jumping, Config) {
	clock, cfg := &jumping{}, config(minute)
	cfg.Now, cfg.alarm = clock.now, clock.newAlarm
	return clock, cfg
}

func TestAnIdleWatchdogWakesUpOnlyToRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, cfg := alarmed()
		r := replies(t, minute, 0, nil)
		if err := watchFor(time.Hour, r, minute, cfg); err != nil {
			t.Fatal(err)
		}
		renewals := len(r.tries())
		if renewals < 3600/20 {
			t.Errorf("%d renewals in an hour", renewals)
		}
		if each := float64(clock.asked.Load()) / float64(renewals); each > 10 {
			t.Errorf("the clock was looked at %.0f times for each renewal", each)
		}
	})
}

func TestV3WithAnAlarmASleepOfTheMachineIsNoticedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, cfg := alarmed()
		start := time.Now()
		time.AfterFunc(10300*time.Millisecond, func() { clock.sleep(time.Hour) })
		lost := lostError(t, watchFor(time.Hour, replies(t, minute, 0, nil), minute, cfg))
		if noticed := time.Since(start) - 10300*time.Millisecond; !errors.Is(lost, ErrLate) || noticed != 0 {
			t.Errorf("%v, after %v", lost, noticed)
		}
	})
}

func TestV3WithAnAlarmASleepThatTheLeaseOutlivesIsFollowedByARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, cfg := alarmed()
		time.AfterFunc(5*time.Second, func() { clock.sleep(30 * time.Second) })
		r := replies(t, minute, 0, nil)
		if err := watchFor(5001*time.Millisecond, r, minute, cfg); err != nil {
			t.Fatal(err)
		}
		if len(r.tries()) != 1 {
			t.Errorf("%d renewals, want 1 on waking up", len(r.tries()))
		}
	})
}

func TestWhereThereIsNoAlarmTheClockIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, cfg := alarmed()
		cfg.alarm = func() (alarm, error) { return nil, errors.New("make timer: too many open files") }
		time.AfterFunc(5300*time.Millisecond, func() { clock.sleep(time.Hour) })
		lost := lostError(t, watchFor(7*time.Second, replies(t, minute, 0, nil), minute, cfg))
		if !errors.Is(lost, ErrLate) {
			t.Errorf("%v", lost)
		}
	})
}
