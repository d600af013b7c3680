package boottime_test

import (
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/boottime"
)

func TestTheNilClockIsTheMachines(t *testing.T) {
	var clock *boottime.Clock
	before := boottime.Now()
	now := clock.Now()
	if after := boottime.Now(); now.Before(before.Add(-time.Millisecond)) || now.After(after.Add(time.Millisecond)) {
		t.Errorf("%v is not from %v to %v", now, before, after)
	}
	if left := clock.Until(now.Add(time.Hour)); left < 59*time.Minute || left > time.Hour {
		t.Errorf("an hour takes %v", left)
	}
}

func TestASleepMovesAClockAndNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, woken := new(boottime.Clock), time.Now()
		start := clock.Now()
		clock.Sleep(time.Hour)
		clock.Sleep(time.Minute)
		time.Sleep(time.Second)
		if passed := clock.Now().Sub(start); passed != time.Hour+time.Minute+time.Second ||
			time.Since(woken) != time.Second {
			t.Errorf("%v have passed, of which %v awake", passed, time.Since(woken))
		}
		if clock.Looks() != 2 {
			t.Errorf("looked at %d times, want 2", clock.Looks())
		}
	})
}

func TestAnAlarmOfAClockRingsAtItsInstantOrOnWakingUp(t *testing.T) {
	for _, c := range []struct{ slept, want time.Duration }{
		{0, 10 * time.Second}, {3 * time.Second, 7 * time.Second}, {time.Hour, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock, woken := new(boottime.Clock), time.Now()
			a, err := clock.NewAlarm()
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if err := a.Set(clock.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			if err := a.Set(clock.Now().Add(10 * time.Second)); err != nil { // the instant before is forgotten
				t.Fatal(err)
			}
			time.AfterFunc(5*time.Second, func() { clock.Sleep(c.slept) })
			<-a.Bell()
			if rang := time.Since(woken); rang != c.want {
				t.Errorf("after a sleep of %v it rang at %v, want %v", c.slept, rang, c.want)
			}
		})
	}
}
