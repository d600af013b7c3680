package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// preempted is the longest distance between two readings of CLOCK_MONOTONIC with which a reading
// of CLOCK_BOOTTIME between them is trusted.
const preempted = 50_000 // ns

// Suspended returns how long the machine has slept since it was started: CLOCK_BOOTTIME less
// CLOCK_MONOTONIC, exact to 50 microseconds.
func Suspended() time.Duration {
	for range 100 {
		before, boot, after := read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_MONOTONIC)
		if after-before < preempted {
			return time.Duration(boot - before)
		}
	}
	return time.Duration(read(unix.CLOCK_BOOTTIME) - read(unix.CLOCK_MONOTONIC))
}

// Ticks returns t, an instant of this package, as the kernel counts CLOCK_BOOTTIME: in nanoseconds
// since the machine was started, exact to 50 microseconds.
func Ticks(t time.Time) int64 { return read(unix.CLOCK_BOOTTIME) + Until(t).Nanoseconds() }

func read(clock int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		panic("clock_gettime: " + err.Error()) // both clocks exist since Linux 2.6.39
	}
	return ts.Nano()
}
