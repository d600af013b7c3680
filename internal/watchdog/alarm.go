package watchdog

import "time"

// looksBefore is how often the clock is checked before an alarm is made: most commands end before
// that, and need none.
const looksBefore = 1

// ring makes the alarm ring at the instant at, in left from now. Go's timers stand still while the
// machine sleeps. Without an alarm the clock is therefore checked once a second, for short leases
// once a margin.
func (w *watch) ring(at time.Time, left time.Duration) <-chan struct{} {
	if w.looks == looksBefore {
		w.alarm, _ = w.Clock.NewAlarm() // checks of the clock replace it
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
	w.timer.Stop()
	if w.alarm != nil {
		w.alarm.Close()
	}
}
