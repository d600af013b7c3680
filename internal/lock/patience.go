package lock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// ReleaseLimit is the most that a release may take.
const ReleaseLimit = 2 * time.Second

// Jitter draws from [d/2, d], so that those who were turned away together do
// not come again together.
func Jitter(d time.Duration) time.Duration { return d - rand.N(d/2+1) }

// Pause waits for d; false: ctx has ended before.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Milliseconds is d in ms, as Redis counts; a part of one is a whole one.
func Milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Between is d, or the bound that it is beyond of.
func Between(low, d, high time.Duration) time.Duration { return min(max(low, d), high) }

// TooSlow says that a lease took longer to get than its renewals may.
func TooSlow(try time.Duration) error { return fmt.Errorf("answers take longer than %s", try) }
