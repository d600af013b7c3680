package lock

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// retryDelay is the delay between two tries if the request sets none.
const retryDelay = 200 * time.Millisecond

// minTry is the least time that a try gets, also at the end of the wait.
const minTry = 250 * time.Millisecond

// Await asks once, and while the lock is busy again as req.Wait says. ask returns *HeldError if
// the lock is busy and *UnavailableError if no answer came within timeout. Await returns its last
// answer, or, if no answer has come since the lock was busy, the clearest error.
func Await(
	ctx context.Context, req Request, ask func(ctx context.Context, timeout time.Duration) (Lease, error),
) (Lease, error) {
	lease, err := ask(ctx, req.Timeout)
	var held *HeldError
	if errors.As(err, &held) {
		lease, err = retry(ctx, req, held, ask)
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return lease, err
}

func retry(
	ctx context.Context, req Request, held *HeldError, ask func(context.Context, time.Duration) (Lease, error),
) (Lease, error) {
	var last error = held
	var outage error // what says most of why there is no answer; nil if there is one
	began := time.Now()
	limited := req.Wait.Limit > 0 || req.Wait.Retries == 0
	for n := 1; ; n++ {
		left := req.Wait.Limit - time.Since(began)
		if req.Wait.Retries > 0 && n > req.Wait.Retries || limited && left <= 0 {
			return nil, cmp.Or(outage, last)
		}
		if err := Announce(req, last); err != nil {
			return nil, err
		}
		delay, timeout := req.Draw.Jitter(req.Wait.delay()), req.Timeout
		if limited {
			delay = min(delay, left)
			timeout = min(timeout, max(left-delay, minTry))
		}
		if !Sleep(ctx, delay) {
			return nil, context.Cause(ctx)
		}
		var lease Lease
		lease, last = ask(ctx, timeout)
		switch {
		case last == nil:
			return lease, nil
		case errors.As(last, new(*HeldError)):
			outage = nil
		case errors.As(last, new(*UnavailableError)):
			outage = ClearerError(outage, last, timeout == req.Timeout)
		default:
			return nil, last
		}
	}
}

// Announce tells the caller why the wait goes on, or returns why it must not.
func Announce(req Request, err error) error {
	var held *HeldError
	if !errors.As(err, &held) {
		if req.OnOutage != nil {
			req.OnOutage(err)
		}
		return nil
	}
	if h := held.Holder; h.Ended.IsZero() && h.Run != "" && slices.Contains(req.Enclosing, h.Run) {
		return &NestedError{Name: req.Name, Holder: h}
	}
	if req.OnBusy != nil {
		req.OnBusy(held)
	}
	return nil
}

func (w Wait) delay() time.Duration {
	if w.Delay > 0 {
		return w.Delay
	}
	return retryDelay
}
