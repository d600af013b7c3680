package lock

import (
	"context"
	"fmt"
	"time"
)

// A RetryPolicy says how to ask a store that does not answer: the total time, the limit of one
// try, the delay after it, and the reserve for giving up. Every retry loop uses one.
type RetryPolicy struct {
	Total time.Duration // all tries and pauses, and the reserve
	Draw  Draw
}

// RetryPolicy returns the policy of a request.
func (r *Request) RetryPolicy() RetryPolicy { return RetryPolicy{r.Timeout, r.Draw} }

// betweenTries is the delay between tries of a request without an answer.
var betweenTries = Backoff{50 * time.Millisecond, 800 * time.Millisecond}

// Try bounds the n-th try, from 0: a quarter of the total, which allows for a new connection if
// this one is dead, then twice as much each time, which allows for a slow store.
func (p RetryPolicy) Try(n int) time.Duration { return min(p.Total/4<<min(n, 2), p.Total) }

// Delay is the delay after the n-th try, from 0.
func (p RetryPolicy) Delay(n int) time.Duration { return p.Draw.Jitter(betweenTries.At(n)) }

// Reserve is the part of the total that is kept for giving up.
func (p RetryPolicy) Reserve() time.Duration { return min(p.Total/10, 500*time.Millisecond) }

// GiveUpLimit bounds giving up after a signal, or where a store may be frozen.
const GiveUpLimit = 75 * time.Millisecond

// ReleaseLimit bounds a release, except for a slot.
const ReleaseLimit = 2 * time.Second

// A Backoff is a series of delays, each twice as long as the one before.
type Backoff struct{ First, Most time.Duration }

// At is the n-th delay, from 0.
func (b Backoff) At(n int) time.Duration {
	d := b.First
	for ; n > 0 && d < b.Most; n-- {
		d *= 2
	}
	return min(d, b.Most)
}

// TryTwice asks within half of the time of ctx, and after a failure once more, on whatever
// connection ask makes then. unconfirmed is what isUnconfirmed says about the first error: the
// request may have been executed, although its answer was lost.
func TryTwice(
	ctx context.Context, ask func(context.Context) error, isUnconfirmed func(error) bool,
) (unconfirmed bool, err error) {
	deadline, _ := ctx.Deadline()
	first, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	if err = ask(first); err == nil {
		return false, nil
	}
	unconfirmed = isUnconfirmed(err)
	return unconfirmed, ask(ctx)
}

// RetryUntilFinal asks until the request succeeds, ctx ends, or final says that an error will not
// change. Each try has the limit of a renewal, and the delays grow to those of a renewal: the
// first try may fail on a dead connection. unconfirmed means the same as in TryTwice.
func RetryUntilFinal(ctx context.Context, t Times, d Draw, ask func(context.Context) error,
	isUnconfirmed, final func(error) bool) (unconfirmed bool, err error) {
	pauses := Backoff{min(betweenTries.First, t.RetryDelay), t.RetryDelay}
	for n := 0; ; n++ {
		try, cancel := context.WithTimeout(ctx, t.Try)
		err = ask(try)
		cancel()
		if err == nil || final(err) {
			return unconfirmed, err
		}
		unconfirmed = unconfirmed || isUnconfirmed(err)
		if ctx.Err() != nil || !Sleep(ctx, d.Jitter(pauses.At(n))) {
			return unconfirmed, err
		}
	}
}

// Sleep waits for d; false: ctx ended before.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Milliseconds is d in ms, as Redis counts, rounded up.
func Milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Clamp returns d, limited to the range from low to high.
func Clamp(low, d, high time.Duration) time.Duration { return min(max(low, d), high) }

// TooSlow says that the lease took longer to get than a renewal may take.
func TooSlow(try time.Duration) error { return fmt.Errorf("answers take longer than %s", try) }
