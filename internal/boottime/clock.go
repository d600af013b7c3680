package boottime

import (
	"errors"
	"sync"
	"time"
)

// A Clock tells the instants of this package. The nil Clock is the machine's own.
//
// Any other, new(Clock), belongs to a machine which sleeps when a test says so. Otherwise it
// follows package time, so it also works in virtual time (testing/synctest).
type Clock struct {
	Silent bool // it has no alarms

	mu     sync.Mutex
	slept  time.Duration
	looks  int
	alarms map[*virtual]struct{}
}

// Now returns the current instant.
func (c *Clock) Now() time.Time {
	if c == nil {
		return Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	return c.now()
}

func (c *Clock) now() time.Time { return time.Now().Add(c.slept) }

// Until returns the time from now to t; negative if t has passed.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// NewAlarm returns an alarm that is not set, or an error if there is none.
func (c *Clock) NewAlarm() (Alarm, error) {
	if c == nil {
		return NewAlarm()
	}
	if c.Silent {
		return nil, errors.ErrUnsupported
	}
	return &virtual{clock: c, bell: make(chan struct{}, 1)}, nil
}

// Sleep moves the clock on by d at once, and no timer of package time with it.
func (c *Clock) Sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept += d
	for a := range c.alarms {
		a.timer.Reset(a.at.Sub(c.now()))
	}
}

// Looks counts the readings of the clock: a program that reads it often while idle keeps the
// machine awake.
func (c *Clock) Looks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks
}

// virtual is an alarm of a test's clock, whose lock guards it.
type virtual struct {
	clock *Clock
	bell  chan struct{}
	at    time.Time
	timer *time.Timer // nil: it is not set
}

func (a *virtual) Bell() <-chan struct{} { return a.bell }

func (a *virtual) Set(at time.Time) error {
	c := a.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	a.stop()
	a.at, a.timer = at, time.AfterFunc(at.Sub(c.now()), a.ring)
	if c.alarms == nil {
		c.alarms = make(map[*virtual]struct{})
	}
	c.alarms[a] = struct{}{}
	return nil
}

func (a *virtual) Close() {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	a.stop()
	delete(a.clock.alarms, a)
}

func (a *virtual) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

func (a *virtual) ring() {
	select {
	case a.bell <- struct{}{}:
	default: // it rings already
	}
}
