package link

import (
	"context"
	"time"

	"redlockrun/internal/lock"
)

// Persist has the script run as Eval does, and again while nobody has answered, as long as
// p has time; so it must be one that may be repeated. inDoubt reports that a try which got no
// answer can have been done. The error is a *lock.UnavailableError, or the cause of ctx.
func (s Script[R]) Persist(ctx context.Context, l *Link, p lock.Patience, keys []string, args ...any) (reply R, inDoubt bool, err error) {
	whole, cancel := context.WithTimeout(ctx, p.Whole)
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
			return reply, inDoubt, nil
		}
		inDoubt = inDoubt || sent && !Answered(err)
		last = lock.Telling(last, err, left >= limit)
		delay := p.Pause(try)
		if Final(err) || time.Until(deadline) <= delay || !lock.Pause(whole, delay) {
			break
		}
	}
	if ctx.Err() != nil {
		return reply, inDoubt, context.Cause(ctx)
	}
	return reply, inDoubt, l.Unavailable(last)
}
