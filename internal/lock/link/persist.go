package link

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/lock"
)

// ErrLate is the cause with which a caller of several servers ends the wait for one: why that one
// has not answered so far is its error.
var ErrLate = errors.New("no answer in time")

// Persist has the script run as Eval does, and again while nobody has answered, as long as
// p has time; so it must be one that may be repeated. unconfirmed reports that a try which got no
// answer can have been done. The error is a *lock.UnavailableError, or the cause of ctx.
func (s Script[R]) Persist(
	ctx context.Context, l *Link, p lock.RetryPolicy, keys []string, args ...any,
) (reply R, unconfirmed bool, err error) {
	whole, cancel := context.WithTimeout(ctx, p.Total)
	defer cancel()
	deadline, _ := whole.Deadline()
	var last error
	for try := 0; ; try++ {
		limit, left := p.Try(try), time.Until(deadline)
		once, end := context.WithTimeout(whole, limit)
		var sent bool
		reply, sent, err = s.Eval(once, l, keys, args...)
		end()
		if err == nil {
			return reply, unconfirmed, nil
		}
		unconfirmed = unconfirmed || sent && !Answered(err)
		if last == nil || ctx.Err() == nil {
			last = lock.ClearerError(last, err, left >= limit)
		}
		delay := p.Delay(try)
		if Final(err) || time.Until(deadline) <= delay || !lock.Sleep(whole, delay) {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil && cause != ErrLate {
		return reply, unconfirmed, cause
	}
	return reply, unconfirmed, l.Unavailable(last)
}
