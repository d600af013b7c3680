package watchdog

import (
	"time"

	"redlockrun/internal/boottime"
)

// An alarm rings when an instant of the watchdog's clock has come; see boottime.Alarm.
type alarm interface {
	Bell() <-chan struct{}
	Set(at time.Time) error
	Close()
}

func newAlarm() (alarm, error) {
	a, err := boottime.NewAlarm()
	if err != nil {
		return nil, err
	}
	return a, nil
}

// looksBefore is how often the clock is looked at before an alarm is made: most
// commands end before that, and need none.
const looksBefore = 1

// ring makes the alarm ring at the instant at, in left from now. Go's timers stand
// still while the machine sleeps, so without an alarm the clock is looked at once a
// second, for short leases once a margin.
func (w *watch) ring(at time.Time, left time.Duration) <-chan struct{} {
	if w.looks == looksBefore && w.Config.alarm != nil {
		w.alarm, _ = w.Config.alarm() // looking does without it
	}
	w.looks++
	if w.alarm != nil && w.alarm.Set(at) == nil {
		w.timer.Stop()
		return w.alarm.Bell()
	}
	w.timer.Reset(min(left, max(w.Margin, 50*time.Millisecond), time.Second))
	return nil
}

func (w *watch) close() {
	if w.alarm != nil {
		w.alarm.Close()
	}
}
