//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tolerable is how late somebody may wake up while the victim has read and not written: the
	// margin of a lease of 2 s. Redlockrun asks for the processor within half of it.
	tolerable = 100 * time.Millisecond

	// renewable is how late at any other time: a lease that nothing happens to outlives it.
	renewable = 500 * time.Millisecond

	lookEach = 4 * time.Millisecond
)

// Lateness is by how much this machine woke up threads too late, and when: one thread on each
// processor sleeps and compares. So it sees a machine that is suspended, a hypervisor that
// gives its processor to others, and more work than processors.
type lateness struct {
	mu     sync.Mutex
	events []lag
	worst  time.Duration
}

// A lag is one wake-up that was too late, and the time in which it should have been.
type lag struct {
	from, to time.Time
}

func watch(ctx context.Context) *lateness {
	l := &lateness{}
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		set.Set(0)
	}
	for cpu := range 1024 {
		if set.IsSet(cpu) {
			go l.look(ctx, cpu)
		}
	}
	return l
}

// look never returns its thread, which ends with it.
func (l *lateness) look(ctx context.Context, cpu int) {
	runtime.LockOSThread()
	var here unix.CPUSet
	here.Set(cpu)
	_ = unix.SchedSetaffinity(0, &here)
	pause := unix.NsecToTimespec(int64(lookEach))
	for before := boot(); ctx.Err() == nil; {
		_ = unix.Nanosleep(&pause, nil)
		now := boot()
		l.note(now-before-lookEach, time.Now())
		before = now
	}
}

// boot is a clock that goes on while the machine is suspended.
func boot() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return time.Duration(t.Nano())
}

func (l *lateness) note(late time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.worst = max(l.worst, late)
	if late >= tolerable {
		l.events = append(l.events, lag{now.Add(-late), now})
	}
}

// between is the longest time for which the machine stood still; 0 if that was not too long.
func (l *lateness) between(from, to time.Time, tooLong time.Duration) (worst time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if d := e.to.Sub(e.from); d > tooLong && e.to.After(from) && e.from.Before(to) {
			worst = max(worst, d)
		}
	}
	return worst
}

func (l *lateness) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("The machine was late by %s at most, and %d times by more than %s.",
		l.worst.Round(time.Millisecond), len(l.events), tolerable)
}
