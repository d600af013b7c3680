package watchdog

import "time"

// looksBefore is how often the clock is looked at before an alarm is made: most
// commands end before that, and need none.
const looksBefore = 1

// ring makes the alarm ring at the instant at, in left from now. Go's timers stand
// still while the machine sleeps, so without an alarm the clock is looked at once a
// second, for short leases once a margin.
func (w *watch) ring(at time.Time, left time.Duration) <-chan struct{} {
	if w.looks == looksBefore {
		w.alarm, _ = w.Clock.NewAlarm() // looking does without it
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
