package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// releaseLimit bounds the one thing that is done after the command has ended.
const releaseLimit = 2 * time.Second

// A session is one run: acquire, then the command beside the watchdog, then
// release. Only here do the three meet.
type session struct {
	*plan
	console console.Console
	signals <-chan os.Signal // read by the wait for the lock, then by the runner
	guard   *runner.Guard    // nil as PID 1
}

func newSession(p *plan, c console.Console, signals <-chan os.Signal) *session {
	return &session{plan: p, console: c, signals: signals}
}

func (s *session) run(environ []string) (ending, error) {
	for _, warning := range slices.Concat(s.Warnings, s.exposed()) {
		s.warn(console.EventConfig, warning, console.Field{Name: "key", Value: s.Key})
	}
	store, keep, err := s.open()
	if err != nil {
		return ending{}, err
	}
	s.console = s.console.With(s.about()...)
	if err := s.splay(); err != nil {
		return ending{}, err
	}
	s.guard = runner.StartGuard(keep...) // while the lock is asked for
	defer s.guard.Close()
	lease, run, err := s.acquire(store)
	if err != nil {
		return ending{}, err
	}
	s.compareClocks(time.Now(), lease)
	s.sayStarted(lease)
	status, kept, err := s.execute(lease, run, with(environ, s.variables(run, lease)))
	held := lease.Held()
	ran := err == nil
	if ran {
		err = s.stopped(lease, status)
	}
	s.giveBack(lease, held, kept.Lost, err)
	if ran {
		s.sum(kept, held, status)
	}
	if err != nil {
		return ending{}, err
	}
	return ending{status: status.Code, by: status}, nil
}

// warn says what ends nothing, but should be looked at.
func (s *session) warn(event, text string, fields ...console.Field) {
	s.console.Say(console.Message{Level: console.Warning, Event: event, Text: text, Fields: fields})
}

func (s *session) sayStarted(lease lock.Lease) {
	if s.console.Says(console.Debug) {
		s.console.Say(console.Message{
			Level: console.Debug, Event: console.EventStarted, Text: fmt.Sprintf("lock %q is held; the command starts", s.Key),
			Fields: []console.Field{{Name: "fence", Value: lease.Fence()}},
		})
	}
}

// execute runs the command while the lease is kept, and says how it was. When it
// returns, no renewal is under way.
func (s *session) execute(lease lock.Lease, run string, environ []string) (status runner.Status, kept watchdog.Stats, err error) {
	command := runner.Command{
		Argv: s.command, Env: environ,
		MaxRuntime: s.MaxRuntime, Grace: s.Times.Grace, Guard: s.guard, Marker: config.RunIDVar + "=" + run,
		Warn: func(err error) { s.warn(console.EventCommand, err.Error()) },
	}
	cfg := s.watchdog()
	cfg.Halt = func(err error) { command.Stop(s.haltFor(err)) }
	keeper := watchdog.New(lease, cfg)
	command.Parked = keeper.Suspend
	command.Resumed = func() error {
		if err := keeper.Resume(context.Background()); err != nil {
			return s.haltFor(err)
		}
		return nil
	}
	keeper.Start()
	defer func() { kept = keeper.Stop() }()
	status, err = command.Run(context.Background(), s.signals)
	return status, kept, err
}

// giveBack releases the lease, or leaves it for the rest of --min-hold, unless
// redlockrun itself failed (err). A lock that is definitely another's by now is
// not touched. A lock that could not be renewed is worth a try: it may still be there.
func (s *session) giveBack(lease lock.Lease, held time.Duration, lost *watchdog.LostError, err error) {
	var keep time.Duration
	if lost == nil && (err == nil || ranOut(err)) {
		keep = max(0, s.MinHold-held)
	}
	if lost != nil && errors.Is(lost, lock.ErrLost) {
		return
	}
	if err := s.release(lease, keep); err != nil && lost == nil {
		s.warn(console.EventUnreleased, err.Error())
	}
}

func (s *session) release(lease lock.Lease, keep time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseLimit)
	defer cancel()
	err := lease.Release(ctx, lock.Farewell{Keep: keep})
	switch {
	case errors.Is(err, lock.ErrLost):
		return fmt.Errorf("lock %q was not held any more when it was to be released (%s)", s.Key, s.where())
	case err != nil:
		left := max(0, boottime.Until(lease.Until())).Round(time.Second)
		return fmt.Errorf("release lock %q: %w; it lapses by itself in %s (%s)", s.Key, err, config.Exact(left), s.where())
	}
	return nil
}

// ranOut reports whether err is that --max-runtime stopped the command.
func ranOut(err error) bool {
	return errors.Is(err, runner.ErrMaxRuntime) && !errors.As(err, new(*runner.NotStartedError))
}

// sum says how the run went, to whoever wants to know. A command that had ended
// by itself, or was stopped for another reason, keeps its status although its
// lock was lost meanwhile.
func (s *session) sum(kept watchdog.Stats, held time.Duration, status runner.Status) {
	if s.console.Says(console.Info) {
		s.console.Say(console.Message{
			Level: console.Info, Event: console.EventReleased, Text: s.summary(kept, held),
			Fields: []console.Field{
				{Name: "status", Value: status.Code}, {Name: "held_ms", Value: held.Milliseconds()},
				{Name: "renewals", Value: kept.Renewed}, {Name: "failed_tries", Value: kept.Failed},
				{Name: "closest_ms", Value: kept.Closest.Milliseconds()},
			},
		})
	}
	if status.Left > 0 {
		s.warn(console.EventLeft, leftBehind(status.Left), console.Field{Name: "processes", Value: status.Left})
	}
	if kept.Lost != nil && s.OnLost == config.StopCommand && !errors.As(status.Stopped, new(*watchdog.LostError)) {
		s.warn(console.EventLost, explainLost(kept.Lost, *s.plan))
	}
}

func leftBehind(processes int) string {
	if processes == 1 {
		return "1 process of the command still runs without the lock"
	}
	return fmt.Sprintf("%d processes of the command still run without the lock", processes)
}

func (s *session) summary(kept watchdog.Stats, held time.Duration) string {
	text := fmt.Sprintf("lock %q was held for %s", s.Key, config.Rounded(held))
	if s.Address.Local {
		return text
	}
	return text + fmt.Sprintf(": %d renewals, %d failed tries, smallest margin %s", kept.Renewed, kept.Failed, config.Rounded(kept.Closest))
}

// stopped is why redlockrun stopped the command, or its guard did; nil if it
// ended by itself.
func (s *session) stopped(lease lock.Lease, status runner.Status) error {
	if status.Stopped == nil && s.guardMayHaveKilled(lease, status) {
		return &watchdog.LostError{Err: watchdog.ErrLate}
	}
	return status.Stopped
}
