package lock

import (
	"context"
	"fmt"
	"time"
)

// A RetryPolicy says how a store is asked that does not answer: how long in all, how long
// one try may take, how long the pause after it is, and what is kept back for giving up.
// Every loop that asks again goes by one.
type RetryPolicy struct {
	Total time.Duration // all tries and pauses, and the reserve
	Draw  Draw
}

// RetryPolicy is that of a request.
func (r *Request) RetryPolicy() RetryPolicy { return RetryPolicy{r.Timeout, r.Draw} }

// betweenTries are the pauses between tries of a request that got no answer.
var betweenTries = Backoff{50 * time.Millisecond, 800 * time.Millisecond}

// Try bounds the n-th try, from 0: a quarter of the whole, which allows for a fresh
// connection if this one is dead, then twice as much each time, which allows for a slow
// store.
func (p RetryPolicy) Try(n int) time.Duration { return min(p.Total/4<<min(n, 2), p.Total) }

// Delay is the one after the n-th try, from 0.
func (p RetryPolicy) Delay(n int) time.Duration { return p.Draw.Jitter(betweenTries.At(n)) }

// Reserve is the part of the whole that is kept back for giving up.
func (p RetryPolicy) Reserve() time.Duration { return min(p.Total/10, 500*time.Millisecond) }

// GiveUpLimit is how long giving up may take after a signal, or where a store may be frozen.
const GiveUpLimit = 75 * time.Millisecond

// ReleaseLimit is the most that a release may take, but for a slot.
const ReleaseLimit = 2 * time.Second

// A Backoff is pauses of which each is twice as long as the one before.
type Backoff struct{ First, Most time.Duration }

// At is the n-th pause, from 0.
func (b Backoff) At(n int) time.Duration {
	d := b.First
	for ; n > 0 && d < b.Most; n-- {
		d *= 2
	}
	return min(d, b.Most)
}

// TryTwice asks within half of the time that ctx has, and if that failed once more, on
// whatever connection ask makes then. unconfirmed is what isUnconfirmed says of the first try's
// error: it may have been done, although its answer was lost.
func TryTwice(ctx context.Context, ask func(context.Context) error, isUnconfirmed func(error) bool) (unconfirmed bool, err error) {
	deadline, _ := ctx.Deadline()
	first, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	if err = ask(first); err == nil {
		return false, nil
	}
	unconfirmed = isUnconfirmed(err)
	return unconfirmed, ask(ctx)
}

// RetryUntilFinal asks until that is done, ctx has ended, or final says of an error that it will
// not be otherwise. Each try has the limit of a renewal's, and the pauses grow to those of one:
// the first try may have failed for a connection that was dead. unconfirmed is as TryTwice has it.
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

// Sleep waits for d; false: ctx has ended before.
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

// Milliseconds is d in ms, as Redis counts; a part of one is a whole one.
func Milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Clamp is d, or the bound that it is beyond of.
func Clamp(low, d, high time.Duration) time.Duration { return min(max(low, d), high) }

// TooSlow says that a lease took longer to get than its renewals may.
func TooSlow(try time.Duration) error { return fmt.Errorf("answers take longer than %s", try) }
