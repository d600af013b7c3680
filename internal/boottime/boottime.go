// Package boottime is the clock that a lease is measured on: it goes on while the machine sleeps,
// as Redis goes on counting a TTL down.
//
// Go's monotonic clock is CLOCK_MONOTONIC, which stands still during a suspend (clock_gettime(2)).
// An instant of this package is an ordinary [time.Time] with a monotonic reading, to which the
// time of sleep is added. So Sub, Before and After between two of them are right.
package boottime

import "time"

// Now returns the current instant. Compare it only with other instants of this package.
func Now() time.Time { return time.Now().Add(Suspended()) }

// Until returns the time from now to t; negative if t has passed.
func Until(t time.Time) time.Duration { return t.Sub(Now()) }

// An Alarm rings when an instant of this package has come. If the machine sleeps then, it rings as
// soon as the machine wakes up. The caller that makes an alarm closes it.
type Alarm interface {
	// Bell receives when the alarm rings. It may ring once for an instant that was set before.
	Bell() <-chan struct{}

	// Set makes the alarm ring at an instant, instead of the one that was set before.
	Set(at time.Time) error

	// Close ends the alarm, which may not be used any more.
	Close()
}
