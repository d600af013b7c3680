package watchdog

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlockrun/internal/lock"

	"github.com/rs/zerolog"
)

var (
	quiet      = zerolog.New(io.Discard)
	errRefused = errors.New("dial: connection refused")
)

// renewer is a Renewer made of a function; it records when it was called.
type renewer struct {
	renew func(ctx context.Context, sent time.Time) (time.Time, error)
	t     *testing.T

	mu   sync.Mutex // a try that hangs is read beside
	sent []time.Time
	busy bool
}

func (r *renewer) Renew(ctx context.Context) (time.Time, error) {
	now := time.Now()
	r.begin(now)
	defer r.end()
	return r.renew(ctx, now)
}

func (r *renewer) begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		r.t.Error("two tries at a time")
	}
	r.busy, r.sent = true, append(r.sent, now)
}

func (r *renewer) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
}

// tries are when tries were made, one under way included.
func (r *renewer) tries() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

// replies answers each try with the same error, or success, after a delay.
func replies(t *testing.T, times lock.Times, delay time.Duration, err error) *renewer {
	return &renewer{t: t, renew: func(ctx context.Context, sent time.Time) (time.Time, error) {
		if pause(ctx, delay); ctx.Err() != nil {
			return time.Time{}, ctx.Err()
		}
		return times.End(sent), err
	}}
}

// pause sleeps for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func config(times lock.Times) Config {
	return Config{Times: times, Now: time.Now}
}

// life is the time from the send of a renewal to T_term.
func life(times lock.Times) time.Duration {
	return times.TTL - times.Drift - times.Margin - times.Grace
}

// watchFor runs the watchdog on a lease sent now, for d.
func watchFor(d time.Duration, r Renewer, times lock.Times, cfg Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return Run(ctx, r, times.End(time.Now()), cfg, quiet)
}

func lostError(t *testing.T, err error) *LostError {
	t.Helper()
	var lost *LostError
	if !errors.As(err, &lost) {
		t.Fatalf("got %v, want a *LostError", err)
	}
	return lost
}

// jumping is a clock that can be moved on by hand, as a sleep of the machine
// moves CLOCK_BOOTTIME and no timer.
type jumping struct {
	slept atomic.Int64
	asked atomic.Int64 // how often it was looked at
	alarm atomic.Pointer[fakeAlarm]
}

func (j *jumping) now() time.Time {
	j.asked.Add(1)
	return time.Now().Add(time.Duration(j.slept.Load()))
}

func (j *jumping) sleep(d time.Duration) {
	j.slept.Store(int64(d))
	if a := j.alarm.Load(); a != nil {
		a.wake()
	}
}

// newAlarm makes the alarm of the clock, once.
func (j *jumping) newAlarm() (alarm, error) {
	a := &fakeAlarm{clock: j, bell: make(chan struct{}, 1)}
	if !j.alarm.CompareAndSwap(nil, a) {
		return nil, errors.New("make alarm: there is one already")
	}
	return a, nil
}

type fakeAlarm struct {
	clock *jumping
	bell  chan struct{}

	mu    sync.Mutex
	at    time.Time
	timer *time.Timer
}

func (a *fakeAlarm) Bell() <-chan struct{} { return a.bell }

func (a *fakeAlarm) Set(at time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
	a.at, a.timer = at, time.AfterFunc(at.Sub(a.clock.now()), a.ring)
	return nil
}

// wake is called when the machine has slept.
func (a *fakeAlarm) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer.Reset(a.at.Sub(a.clock.now()))
}

func (a *fakeAlarm) ring() {
	select {
	case a.bell <- struct{}{}:
	default:
	}
}

func (a *fakeAlarm) Close() { a.timer.Stop() }
