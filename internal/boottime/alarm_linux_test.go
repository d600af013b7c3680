package boottime_test

import (
	"testing"
	"time"

	"redlockrun/internal/boottime"
)

func alarm(t *testing.T) boottime.Alarm {
	t.Helper()
	a, err := boottime.NewAlarm()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func set(t *testing.T, a boottime.Alarm, at time.Time) {
	t.Helper()
	if err := a.Set(at); err != nil {
		t.Fatal(err)
	}
}

func TestAnAlarmRingsAtItsInstantAndNotBefore(t *testing.T) {
	a := alarm(t)
	for range 3 {
		at := boottime.Now().Add(20 * time.Millisecond)
		set(t, a, at)
		<-a.Bell()
		if left := boottime.Until(at); left > 0 {
			t.Errorf("it rang %v too early", left)
		}
	}
}

func TestAnAlarmForThePastRingsAtOnce(t *testing.T) {
	a := alarm(t)
	set(t, a, boottime.Now().Add(-time.Hour))
	<-a.Bell()
}

func TestAnAlarmThatIsSetAgainForgetsTheInstantBefore(t *testing.T) {
	a := alarm(t)
	set(t, a, boottime.Now().Add(24*time.Hour))
	set(t, a, boottime.Now())
	<-a.Bell()
}
