package watchdog_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

// A stander writes down when the command was stopped and continued.
type stander struct {
	start    time.Time
	stopped  []time.Duration
	byKill   []time.Duration // from the order on
	went     []time.Duration
	stood    []time.Duration
	reminded int
}

func (s *stander) StandStill(lost *watchdog.LostError) {
	s.stopped, s.byKill = append(s.stopped, time.Since(s.start)), append(s.byKill, time.Until(lost.Kill))
}

func (s *stander) GoOn(_ time.Time, stood time.Duration) {
	s.went, s.stood = append(s.went, time.Since(s.start)), append(s.stood, stood)
}

func (s *stander) Stands(time.Duration, *watchdog.LostError) { s.reminded++ }

// standing returns a configuration for a command that stands still.
func standing() (watchdog.Config, *stander) {
	cfg, seen := alarmed(minute), &stander{start: time.Now()}
	cfg.Stander, cfg.Draw = seen, func(time.Duration) time.Duration { return 0 }
	return cfg, seen
}

// A retakable is a lease whose lock can be taken back.
type retakable struct {
	*renewer
	retake func() error
}

func (r *retakable) Retake(context.Context) (time.Time, error) {
	if err := r.retake(); err != nil {
		return r.Until(), err
	}
	r.lasts(minute.End(time.Now()))
	return r.Until(), nil
}

func TestACommandStandsStillOneTryBeforeItWouldBeKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := standing()
		r := outageFor(t, 5*time.Minute, nil)
		stats := keep(r, cfg).stays(t, 10*time.Minute)
		want := minute.Kill(minute.End(seen.start)).Sub(seen.start) - minute.Try
		if len(seen.stopped) != 1 || seen.stopped[0] != want || seen.byKill[0] != minute.Try {
			t.Errorf("stopped after %v, want %v, by %v", seen.stopped, want, seen.byKill)
		}
		if len(seen.went) != 1 || seen.went[0] < 5*time.Minute || seen.went[0] > 5*time.Minute+minute.RetryDelay {
			t.Errorf("went on after %v", seen.went)
		}
		if stats.Lost != nil || stats.Stood != seen.stood[0] || seen.reminded != 4 {
			t.Errorf("%+v, reminded %d times", stats, seen.reminded)
		}
	})
}

func TestACommandThatStandsForADayIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := standing()
		k := keep(outageFor(t, 48*time.Hour, nil), cfg)
		stats := k.stopAfter(t, 47*time.Hour)
		over := stats.Stood - 24*time.Hour
		if stats.Lost == nil || over < 0 || over > time.Minute || len(seen.went) > 0 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestALeaseThatIsTakenBackLetsTheCommandGoOn(t *testing.T) {
	for _, c := range []struct {
		answers []error
		lost    error
	}{
		{[]error{nil}, nil},
		{[]error{lock.ErrPaused, lock.ErrPaused, nil}, nil},
		{[]error{errRefused, lock.ErrTaken}, lock.ErrTaken},
		{[]error{lock.ErrLost}, lock.ErrLost},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg, seen := standing()
			// The renewal that loses it, and one before each retake.
			r := &retakable{renewer: script(t, minute, slices.Repeat([]error{lock.ErrTaken}, len(c.answers)+1)...)}
			asked := 0
			r.retake = func() error { asked++; return c.answers[asked-1] }
			cancelled := make(chan error, 1)
			cfg.Cancel = func(err error) { cancelled <- err }
			r.lasts(cfg.End(time.Now()))
			k := watchdog.New(r, cfg)
			k.Start()
			time.Sleep(40 * time.Second)
			stats := k.Stop()
			if asked != len(c.answers) || len(seen.stopped) == 0 || (len(seen.went) > 0) != (c.lost == nil) {
				t.Errorf("%v: asked %d times, stopped %v, went on %v", c.answers, asked, seen.stopped, seen.went)
			}
			if (len(cancelled) > 0) != (c.lost != nil) || c.lost != nil && !errors.Is(stats.Lost, c.lost) {
				t.Errorf("%v: %d times halted, lost for %v", c.answers, len(cancelled), stats.Lost)
			}
		})
	}
}
