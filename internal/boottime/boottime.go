// Package boottime is the clock that a lease is measured on: it goes on while
// the machine sleeps, as Redis goes on counting a TTL down.
//
// Go's monotonic clock is CLOCK_MONOTONIC, which stands still during a
// suspend (clock_gettime(2)). An instant of this package is an ordinary
// [time.Time] with a monotonic reading, moved on by the time slept through, so
// that Sub, Before and After between two of them are right.
package boottime

import "time"

// Now is the current instant. Compare it only with other instants of this
// package.
func Now() time.Time { return time.Now().Add(Suspended()) }

// Until is how long it takes from now to t; negative if t has passed.
func Until(t time.Time) time.Duration { return t.Sub(Now()) }

// An Alarm rings when an instant of this package has come, also if the machine
// sleeps meanwhile: then as soon as it has woken up. Whoever makes one closes it.
type Alarm interface {
	// Bell is what rings. It may ring once for an instant that was set before.
	Bell() <-chan struct{}

	// Set makes the alarm ring at an instant, instead of the one that was set before.
	Set(at time.Time) error

	// Close ends the alarm, which may not be used any more.
	Close()
}
