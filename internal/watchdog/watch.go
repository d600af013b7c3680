package watchdog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
)

const (
	// A try whose context has ended returns in far less than this. At T_term every moment shortens
	// the grace period; after the command's end only the user waits.
	resolveAtTerm = 25 * time.Millisecond
	resolveAtEnd  = time.Second
)

var errNoAnswer = fmt.Errorf("wait for the store's answer: %w", context.DeadlineExceeded)

// watch is the time from one start or resumption to the next suspension or loss. All of it belongs
// to the goroutine of keep.
type watch struct {
	Config
	lease Lease
	stats *Stats
	told  func() // after each renewal

	until  time.Time // the end of the lease, V
	failed int       // tries since the last success
	err    error     // why they failed: the clearest error
	timer  *time.Timer
	alarm  boottime.Alarm // nil: there is none
	looks  int            // checks of the clock, by the timer
}

// An answer is the result of one try.
type answer struct {
	until time.Time
	err   error
	panic any // what it panicked with; nil if it did not
}

// watch renews the lease until ctx ends, when it returns nil, or it is lost.
func (k *Keeper) watch(ctx context.Context) *LostError {
	w := &watch{
		Config: k.cfg, lease: k.lease, stats: &k.stats, told: k.renewed, until: k.lease.Until(),
		timer: time.NewTimer(0),
	}
	defer w.close()
	lost := w.run(ctx)
	w.closest(w.Clock.Now())
	return lost
}

func (w *watch) run(ctx context.Context) *LostError {
	for due := w.afterSuccess(w.Clock.Now()); ; {
		w.wait(ctx, due, nil)
		if ctx.Err() != nil {
			return nil
		}
		// The clock is checked before anything is sent: this process may have been frozen, or the
		// machine asleep, since the timer was set.
		sent := w.Clock.Now()
		if !sent.Before(w.term()) {
			return w.late()
		}
		a := w.try(ctx, sent)
		if ctx.Err() != nil {
			return nil
		}
		var lost *LostError
		if due, lost = w.judge(sent, a); lost != nil {
			return lost
		}
	}
}

func (w *watch) term() time.Time { return w.limit(w.until) }

// judge returns when the next try is due, or that the lease is lost.
func (w *watch) judge(sent time.Time, a answer) (due time.Time, lost *LostError) {
	now := w.Clock.Now()
	switch {
	case a.err == nil:
		return w.afterSuccess(sent), nil
	case errors.Is(a.err, lock.ErrTaken):
		return due, &LostError{a.err, earliest(now.Add(killTaken), now.Add(w.Grace), w.until)}
	case errors.Is(a.err, lock.ErrLost):
		return due, &LostError{a.err, earliest(now.Add(w.Grace), w.until)}
	}
	if now.Before(w.term()) {
		w.Observer.Failed(w.failed, a.err, w.term().Sub(now))
	}
	return now.Add(w.Draw.Jitter(w.RetryDelay)), nil
}

// afterSuccess returns when the next renewal is due. It counts from sent, but leaves room for two
// tries before T_term even if the answer was late.
func (w *watch) afterSuccess(sent time.Time) time.Time {
	due := sent.Add(w.Renew - w.Draw.Below(w.Renew/10))
	due = earliest(due, w.term().Add(-2*w.Try))
	if soonest := w.Clock.Now().Add(w.RetryDelay / 2); due.Before(soonest) {
		return soonest // never a busy loop, with any times
	}
	return due
}

func (w *watch) late() *LostError {
	if w.err == nil {
		return &LostError{ErrLate, w.Kill(w.until)}
	}
	return &LostError{w.err, w.Kill(w.until)}
}

// try makes one try, which ends at T_term and with ctx.
func (w *watch) try(ctx context.Context, sent time.Time) answer {
	limited, cancel := context.WithTimeout(ctx, min(w.Try, w.term().Sub(sent)))
	defer cancel()
	answers := make(chan answer, 1)
	go func() { answers <- w.renewal(limited) }()
	a, ok := w.wait(ctx, w.term(), answers)
	if !ok {
		cancel()
		a, ok = w.resolve(ctx, answers)
	}
	if a.panic != nil {
		panic(a.panic)
	}
	if errors.Is(a.err, context.Canceled) || !ok {
		a.err = errNoAnswer // this process cancelled it
	}
	if a.err == nil || ctx.Err() == nil {
		w.note(a, w.term().Sub(sent) >= w.Try)
	}
	return a
}

func (w *watch) renewal(ctx context.Context) (a answer) {
	defer func() { a.panic = recover() }()
	a.until, a.err = w.lease.Renew(ctx)
	return a
}

// resolve waits for a try whose context has ended.
func (w *watch) resolve(ctx context.Context, answers <-chan answer) (answer, bool) {
	limit := resolveAtTerm
	if ctx.Err() != nil {
		limit = resolveAtEnd
	}
	w.timer.Reset(limit)
	select {
	case a := <-answers:
		return a, true
	case <-w.timer.C:
		return answer{}, false
	}
}

// note records an answer. A successful renewal counts however late it is: the lock held our token
// then, so no other run can have held it meanwhile. A failure says less if the try did not have
// all of its time.
func (w *watch) note(a answer, whole bool) {
	switch {
	case a.err == nil:
		w.succeed(a.until)
	case !errors.Is(a.err, lock.ErrLost):
		w.fail(lock.ClearerError(w.err, a.err, whole))
	}
}

func (w *watch) succeed(until time.Time) {
	w.closest(w.Clock.Now())
	if w.failed > 0 {
		w.Observer.Recovered(w.failed)
	}
	w.until, w.failed, w.err = until, 0, nil
	w.stats.Renewed++
	w.tellGuard(until)
	w.told()
}

func (w *watch) fail(err error) {
	w.failed++
	w.err = err
	w.stats.Failed++
}

func (w *watch) closest(now time.Time) {
	w.stats.Closest = min(w.stats.Closest, w.term().Sub(now))
}

// wait sleeps until the instant at, T_term, an answer or the end of ctx, whichever comes first. An
// answer that has already arrived is taken first.
func (w *watch) wait(ctx context.Context, at time.Time, answers <-chan answer) (answer, bool) {
	at = earliest(at, w.term())
	for {
		select {
		case a := <-answers:
			return a, true
		default:
		}
		left := at.Sub(w.Clock.Now())
		if left <= 0 || ctx.Err() != nil {
			return answer{}, false
		}
		select {
		case a := <-answers:
			return a, true
		case <-ctx.Done():
		case <-w.ring(at, left):
		case <-w.timer.C:
		}
	}
}

func earliest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.Before(first) {
			first = t
		}
	}
	return first
}
