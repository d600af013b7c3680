package watchdog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

const (
	// resolveAtTerm and resolveAtEnd limit the wait for a try that ignores its context.
	resolveAtTerm = 25 * time.Millisecond
	resolveAtEnd  = time.Second
)

var (
	minute     = lock.TimesOf(time.Minute)
	errRefused = errors.New("dial: connection refused")
)

// A renewer is a lease made of a function; it records when it was called.
type renewer struct {
	renew func(ctx context.Context, sent time.Time) (time.Time, error)
	t     *testing.T

	mu    sync.Mutex // a try that hangs is read concurrently
	until time.Time
	sent  []time.Time
	busy  bool

	stop func() bool // nil: no operator wants it to end
}

func (r *renewer) StopAsked() bool { return r.stop != nil && r.stop() }

func (r *renewer) Until() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until
}

// lasts makes the lease end at until.
func (r *renewer) lasts(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = until
}

func (r *renewer) Renew(ctx context.Context) (time.Time, error) {
	now := time.Now()
	r.begin(now)
	defer r.end()
	until, err := r.renew(ctx, now)
	if err == nil {
		r.lasts(until)
	}
	return until, err
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

// script answers the tries one after the other; what comes after them succeeds.
func script(t *testing.T, times lock.Times, answers ...error) *renewer {
	r := &renewer{t: t}
	r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
		if n := len(r.tries()); n <= len(answers) {
			return times.End(sent), answers[n-1]
		}
		return times.End(sent), nil
	}
	return r
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

// config is for a machine that has no alarms.
func config(times lock.Times) watchdog.Config {
	return watchdog.Config{Times: times, Clock: &boottime.Clock{Silent: true}}
}

// alarmed is for a machine that has alarms.
func alarmed(times lock.Times) watchdog.Config {
	return watchdog.Config{Times: times, Clock: new(boottime.Clock)}
}

// life is the time from the send of a renewal to T_term.
func life(times lock.Times) time.Duration {
	return times.TTL - times.Drift - times.Margin - times.Grace
}

// A keeping is a lease that is being kept.
type keeping struct {
	*watchdog.Keeper
	cancelled chan error // what Cancel was told
}

// keep starts to keep a lease sent now.
func keep(r *renewer, cfg watchdog.Config) keeping { return keepAged(r, cfg, 0) }

// keepAged starts to keep a lease of age.
func keepAged(r *renewer, cfg watchdog.Config, age time.Duration) keeping {
	k := keeping{cancelled: make(chan error, 1)}
	cfg.Cancel = func(err error) { k.cancelled <- err }
	r.lasts(cfg.End(cfg.Clock.Now().Add(-age)))
	k.Keeper = watchdog.New(r, cfg)
	k.Start()
	return k
}

// stopAfter keeps the lease for d, or until the command is halted.
func (k keeping) stopAfter(t *testing.T, d time.Duration) watchdog.Stats {
	t.Helper()
	var halted error
	select {
	case <-time.After(d):
	case halted = <-k.cancelled:
	}
	stats := k.Stop()
	select {
	case halted = <-k.cancelled:
	default:
	}
	if (halted == nil) != (stats.Lost == nil) || halted != nil && halted != error(stats.Lost) {
		t.Errorf("halted for %v, but lost for %v", halted, stats.Lost)
	}
	return stats
}

// watchFor keeps a lease sent now for d, or until the command is halted.
func watchFor(d time.Duration, r *renewer, cfg watchdog.Config) watchdog.Stats {
	r.t.Helper()
	return keep(r, cfg).stopAfter(r.t, d)
}

// mustLose is watchFor for a lease that will be lost.
func mustLose(d time.Duration, r *renewer, cfg watchdog.Config) *watchdog.LostError {
	r.t.Helper()
	stats := watchFor(d, r, cfg)
	if stats.Lost == nil {
		r.t.Fatal("the lease is not lost")
	}
	return stats.Lost
}

// mustKeep is watchFor for a lease that will be kept.
func mustKeep(d time.Duration, r *renewer, cfg watchdog.Config) watchdog.Stats {
	r.t.Helper()
	stats := watchFor(d, r, cfg)
	if stats.Lost != nil {
		r.t.Fatal(stats.Lost)
	}
	return stats
}

// A diary is an Observer that writes everything down.
type diary struct{ entries []string }

func (d *diary) note(format string, args ...any) {
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

func (d *diary) Failed(tries int, err error, left time.Duration) {
	d.note("try %d failed (%v), %v left", tries, err, left)
}

func (d *diary) Recovered(tries int)                { d.note("renewed after %d", tries) }
func (d *diary) StopAsked()                         { d.note("stop asked") }
func (d *diary) Continues(lost *watchdog.LostError) { d.note("runs on: %v", lost.Err) }
func (d *diary) Regained()                          { d.note("regained") }

// says compares what was written down.
func (d *diary) says(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.entries, want) {
		t.Errorf("the observer was told %q, want %q", d.entries, want)
	}
}
