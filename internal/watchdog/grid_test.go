package watchdog_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
)

// An outage of the store, as one case of the grid.
type outage struct {
	from, to time.Duration // since the first lease was sent
	delay    time.Duration // of each reply
	refuse   bool          // tries fail at once; else they hang
	jitter   float64       // the part of what may be taken off that is taken off
}

func (o outage) String() string {
	return fmt.Sprintf("from %v to %v, replies after %v, refuse %v, jitter %v",
		o.from, o.to, o.delay, o.refuse, o.jitter)
}

// hits reports whether a try sent at t goes without an answer.
func (o outage) hits(t time.Duration) bool { return t < o.to && t+o.delay > o.from }

// answered is when a try sent at t, with the given limit, is over, and whether it succeeded.
func (o outage) answered(t, limit time.Duration) (time.Duration, bool) {
	switch {
	case o.refuse && t >= o.from && t < o.to:
		return t, false
	case o.hits(t) || o.delay > limit:
		return t + limit, false
	}
	return t + o.delay, true
}

// rule is the contract in plain arithmetic: when the command is stopped, or
// false if it lives at end.
func (o outage) rule(times lock.Times, end time.Duration) (stopped time.Duration, isStopped bool) {
	every := times.Renew - time.Duration(o.jitter*float64(times.Renew/10))
	pause := times.RetryDelay - time.Duration(o.jitter*float64(times.RetryDelay/2+1))
	term := life(times)
	for try := min(every, term-2*times.Try); ; {
		if min(try, term) > end {
			return 0, false
		}
		if try >= term {
			return term, true
		}
		over, ok := o.answered(try, min(times.Try, term-try))
		if !ok {
			try = over + pause
			continue
		}
		term = try + life(times)
		try = max(min(try+every, term-2*times.Try), over+times.RetryDelay/2)
	}
}

func (o outage) renewer(t *testing.T, times lock.Times, start time.Time) *renewer {
	return &renewer{t: t, renew: func(ctx context.Context, sent time.Time) (time.Time, error) {
		limit := time.Hour
		if deadline, ok := ctx.Deadline(); ok {
			limit = time.Until(deadline)
		}
		over, ok := o.answered(sent.Sub(start), limit)
		pause(ctx, over-sent.Sub(start))
		switch {
		case ctx.Err() != nil:
			return time.Time{}, ctx.Err()
		case !ok && o.refuse:
			return time.Time{}, errRefused
		case !ok:
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		}
		return times.End(sent), nil
	}}
}

// grid calls each with every start, length and delay of an outage. The odd
// microseconds keep two things from happening at the same instant.
func grid(times lock.Times, each func(o outage)) {
	const starts, lengths = 16, 50
	for s := range starts {
		for l := range lengths {
			for d, delay := range []time.Duration{
				0, times.Try / 5, times.Try / 2, times.Try - time.Millisecond, times.Try + time.Millisecond,
				2 * times.Try, times.Try / 3,
			} {
				from := time.Duration(s)*times.Renew*3/(2*starts) + 137*time.Microsecond
				o := outage{
					from: from, to: from + time.Duration(l)*times.TTL*5/(4*lengths) + 29*time.Microsecond,
					delay: delay, jitter: float64((s+l+d)%4) / 4,
				}
				each(o)
				o.refuse = true
				each(o)
			}
		}
	}
}

func TestTheCommandLivesExactlyWhenTheRuleSaysSo(t *testing.T) {
	t.Parallel()
	times := lock.TimesOf(6 * time.Second)
	cases, stopped := 0, 0
	synctest.Test(t, func(t *testing.T) {
		grid(times, func(o outage) {
			cases++
			if o.check(t, times) {
				stopped++
			}
		})
	})
	t.Logf("%d cases, stopped in %d", cases, stopped)
	if cases < 10_000 || stopped < cases/10 || stopped > cases*9/10 {
		t.Errorf("the grid has %d cases, of which %d stop the command", cases, stopped)
	}
}

// check runs one case and compares it with the rule.
func (o outage) check(t *testing.T, times lock.Times) (stopped bool) {
	start, end := time.Now(), o.to+times.TTL
	cfg := config(times)
	cfg.Clock.Silent = o.refuse // the machine has alarms or not: it is all the same
	cfg.Draw = func(d time.Duration) time.Duration { return time.Duration(o.jitter * float64(d)) }
	lost := watchFor(end, o.renewer(t, times, start), cfg).Lost
	got, lived := time.Since(start), lost == nil

	want, wantStopped := o.rule(times, end)
	switch {
	case wantStopped != !lived:
		t.Errorf("%v: ended after %v with %v, want stopped: %v (after %v)", o, got, lost, wantStopped, want)
	case wantStopped && got != want:
		t.Errorf("%v: stopped after %v, want %v", o, got, want)
	case wantStopped && !lost.Kill.Equal(start.Add(want+times.Grace)):
		t.Errorf("%v: SIGKILL due after %v, want %v", o, lost.Kill.Sub(start), want+times.Grace)
	}
	o.checkBounds(t, times, lived)
	return wantStopped
}

// checkBounds holds the outcome against what a user may compute without
// knowing when the tries are made.
func (o outage) checkBounds(t *testing.T, times lock.Times, lived bool) {
	length := o.to - o.from
	if !lived && o.delay < times.Try && length < life(times)-times.Renew-times.Try-times.RetryDelay-2*o.delay {
		t.Errorf("%v: an outage of %v stopped the command", o, length)
	}
	if lived && (length > life(times) || o.delay > times.Try) {
		t.Errorf("%v: an outage of %v did not stop the command", o, length)
	}
}

func TestNoRandomScheduleOutlivesALease(t *testing.T) {
	t.Parallel()
	times := lock.TimesOf(time.Second)
	synctest.Test(t, func(t *testing.T) {
		grid(times, func(o outage) {
			start := time.Now()
			r := o.renewer(t, times, start)
			stats := watchFor(o.to+times.TTL, r, alarmed(times))
			for i, sent := range r.sent {
				if i > 0 && sent.Sub(r.sent[i-1]) > times.Renew+o.delay+times.RetryDelay {
					t.Errorf("%v: %v between two tries", o, sent.Sub(r.sent[i-1]))
				}
			}
			o.checkBounds(t, times, stats.Lost == nil)
		})
	})
}
