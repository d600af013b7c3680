package watchdog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"

	"github.com/rs/zerolog"
)

const (
	// killTaken is the time between SIGTERM and SIGKILL when somebody else works
	// under the lock already.
	killTaken = time.Second

	// A try whose context has ended returns in far less than this. At T_term every
	// moment comes off the grace; after the command's end only the user waits.
	settleAtTerm = 25 * time.Millisecond
	settleAtEnd  = time.Second
)

var errNoAnswer = fmt.Errorf("wait for the store's answer: %w", context.DeadlineExceeded)

// watch is one run of the watchdog. All of it belongs to Run's goroutine.
type watch struct {
	Config
	lease Renewer
	log   zerolog.Logger

	until  time.Time // the end of the lease, V
	failed int       // tries since the last success
	err    error     // why the last of them failed
	timer  *time.Timer
	alarm  alarm // nil: there is none
	looks  int   // at the clock, by the timer
}

// An answer is what one try returned.
type answer struct {
	until time.Time
	err   error
}

func newWatch(lease Renewer, until time.Time, cfg Config, log zerolog.Logger) *watch {
	if cfg.Now == nil {
		cfg.Now, cfg.alarm = boottime.Now, newAlarm
	}
	if cfg.draw == nil {
		cfg.draw = func(d time.Duration) time.Duration { return rand.N(max(d, 1)) }
	}
	if cfg.Stats == nil {
		cfg.Stats = new(Stats)
	}
	if cfg.Lease == "" {
		cfg.Lease = "the lease"
	}
	*cfg.Stats = Stats{Closest: 1<<63 - 1}
	return &watch{Config: cfg, lease: lease, log: log, until: until, timer: time.NewTimer(0)}
}

func (w *watch) kill() time.Time { return w.Kill(w.until) }
func (w *watch) term() time.Time { return w.Term(w.until) }

func (w *watch) run(ctx context.Context) error {
	defer w.timer.Stop()
	defer w.close()
	for due := w.afterSuccess(w.Now()); ; {
		w.wait(ctx, due, nil)
		if ctx.Err() != nil {
			return nil
		}
		// The clock is asked before anything is sent: this process may have been
		// frozen, or the machine asleep, since the timer was set.
		sent := w.Now()
		if !sent.Before(w.term()) {
			return w.late()
		}
		a := w.try(ctx, sent)
		if ctx.Err() != nil {
			return nil
		}
		var err error
		if due, err = w.judge(sent, a); err != nil {
			return err
		}
	}
}

// judge says when the next try is due, or that the lease is lost.
func (w *watch) judge(sent time.Time, a answer) (due time.Time, err error) {
	now := w.Now()
	switch {
	case a.err == nil:
		return w.afterSuccess(sent), nil
	case errors.Is(a.err, lock.ErrTaken):
		return due, &LostError{a.err, earliest(now.Add(killTaken), now.Add(w.Grace), w.until)}
	case errors.Is(a.err, lock.ErrLost):
		return due, &LostError{a.err, earliest(now.Add(w.Grace), w.until)}
	}
	if now.Before(w.term()) {
		w.report(now)
	}
	return now.Add(w.Pause - w.draw(w.Pause/2)), nil
}

// afterSuccess is when the next renewal is due. Counted from sent, but two
// tries shall have room before T_term even if the answer was late.
func (w *watch) afterSuccess(sent time.Time) time.Time {
	due := sent.Add(w.Renew - w.draw(w.Renew/10))
	due = earliest(due, w.term().Add(-2*w.Try))
	if soonest := w.Now().Add(w.Pause / 2); due.Before(soonest) {
		return soonest // never a busy loop, whatever the times are
	}
	return due
}

func (w *watch) late() error {
	if w.err == nil {
		return &LostError{ErrLate, w.kill()}
	}
	return &LostError{w.err, w.kill()}
}

// try makes one try, which ends at T_term and with ctx.
func (w *watch) try(ctx context.Context, sent time.Time) answer {
	limited, cancel := context.WithTimeout(ctx, min(w.Try, w.term().Sub(sent)))
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		until, err := w.lease.Renew(limited)
		answers <- answer{until, err}
	}()
	a, ok := w.wait(ctx, w.term(), answers)
	if !ok {
		cancel()
		a, ok = w.settle(ctx, answers)
	}
	if errors.Is(a.err, context.Canceled) || !ok {
		a.err = errNoAnswer // it is we who cancelled
	}
	if a.err == nil || ctx.Err() == nil {
		w.note(a)
	}
	return a
}

// settle waits for a try whose context has ended.
func (w *watch) settle(ctx context.Context, answers <-chan answer) (answer, bool) {
	limit := settleAtTerm
	if ctx.Err() != nil {
		limit = settleAtEnd
	}
	w.timer.Reset(limit)
	select {
	case a := <-answers:
		return a, true
	case <-w.timer.C:
		return answer{}, false
	}
}

// note books an answer. An answer "renewed" counts however late it is: the
// lock bore our token then, so that nobody else can have had it meanwhile.
func (w *watch) note(a answer) {
	switch {
	case a.err == nil:
		w.succeed(a.until)
	case !errors.Is(a.err, lock.ErrLost):
		w.fail(a.err)
	}
}

func (w *watch) succeed(until time.Time) {
	w.closest(w.Now())
	if w.failed > 0 {
		w.log.Info().Str("event", "renewed").Int("failed", w.failed).Msg(w.Lease + " is renewed again")
	}
	w.until, w.failed, w.err = until, 0, nil
	w.Stats.Renewed++
	if w.Renewed != nil {
		w.Renewed(until)
	}
}

func (w *watch) fail(err error) {
	w.failed++
	w.err = err
	w.Stats.Failed++
}

func (w *watch) closest(now time.Time) {
	w.Stats.Closest = min(w.Stats.Closest, w.term().Sub(now))
}

// report warns once in an outage, and not of a single failure: a connection
// that was cut while idle is replaced by the next try, and is no news.
func (w *watch) report(now time.Time) {
	level := zerolog.DebugLevel
	switch w.failed {
	case 1:
		level = zerolog.InfoLevel
	case 2:
		level = zerolog.WarnLevel
	}
	left := max(w.term().Sub(now), 0).Round(100 * time.Millisecond)
	w.log.WithLevel(level).Str("event", "unrenewed").Err(w.err).Stringer("until_stop", left).Msg(w.Lease + " could not be renewed; trying again")
}

// wait sleeps until the instant at, T_term, an answer or the end of ctx,
// whichever comes first. An answer that is there already is taken first.
func (w *watch) wait(ctx context.Context, at time.Time, answers <-chan answer) (answer, bool) {
	at = earliest(at, w.term())
	for {
		select {
		case a := <-answers:
			return a, true
		default:
		}
		left := at.Sub(w.Now())
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
