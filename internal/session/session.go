// Package session is one run: it acquires the lock, runs the command alongside the watchdog, and
// releases the lock.
package session

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/permits"
	"redlockrun/internal/runner"
	"redlockrun/internal/store"
	"redlockrun/internal/watchdog"
)

// A session is one run: acquire, then the command alongside the watchdog, then release. Only here
// do the three meet.
type session struct {
	about   *explain.About
	config  *config.Config
	command []string // and its arguments
	Console console.Console
	signals <-chan os.Signal // read by the wait for the lock, then by the runner
	guards  guards
	Report  Report
	Output  *Output
}

func New(a *explain.About, argv []string, c console.Console, signals <-chan os.Signal) *session {
	return &session{about: a, config: &a.Config, command: argv, Console: c, signals: signals, Output: new(Output)}
}

func (s *session) Run(environ []string) (status runner.Status, err error) {
	if !s.config.Address.Local {
		s.guards.startAtOnce() // it gets ready while the lock is asked for
	}
	defer s.guards.close()
	exposed, err := interrupt.AtOnce(s.signals,
		func() ([]string, error) { return store.ExposedPasswords(s.config), nil })
	if err != nil {
		return status, err
	}
	for _, warning := range slices.Concat(s.config.Warnings, exposed) {
		s.Warn(console.EventConfig, warning, console.Field{Name: "key", Value: s.config.Key})
	}
	store, keep, err := s.Open()
	if err != nil {
		return status, err
	}
	s.Console = s.Console.With(s.lockFields()...)
	if err := s.splay(); err != nil {
		return status, err
	}
	if s.config.Address.Local && s.config.Permits.Of == 0 {
		s.guards.startHolding(keep)
	}
	lease, run, err := s.acquire(store)
	if err != nil {
		return status, err
	}
	s.compareClocks(time.Now(), lease)
	s.Report.began(run, lease)
	s.sayStarted(lease)
	r := s.execute(lease, run, environ)
	s.releaseAfterRun(lease, r)
	s.sayEnd(r)
	return r.status, r.err
}

// lockFields returns the fields of messages about the lock.
func (s *session) lockFields() []console.Field {
	return []console.Field{
		{Name: "key", Value: s.config.Key}, {Name: "address", Value: s.about.Place},
		{Name: "from", Value: s.config.Address.From},
	}
}

// Warn reports a problem that does not end the run.
func (s *session) Warn(event, text string, fields ...console.Field) {
	s.Console.Say(console.Message{Level: console.Warning, Event: event, Text: text, Fields: fields})
}

func (s *session) sayStarted(lease lock.Lease) {
	if s.Console.Enabled(console.Debug) {
		s.Console.Say(console.Message{
			Level: console.Debug, Event: console.EventStarted,
			Text:   fmt.Sprintf("lock %q is held; the command starts", s.config.Key),
			Fields: startedFields(lease),
		})
	}
}

// startedFields say what the run has.
func startedFields(lease lock.Lease) []console.Field {
	fields := []console.Field{{Name: "fence", Value: lease.Fence()}}
	if p, ok := lease.(permits.Lease); ok {
		fields = append(fields, console.Field{Name: "permits", Value: numbers(p.Permits())})
	}
	return fields
}

// sayEnd says how the run went, if the user wants to know. A command that ended by itself, or was
// stopped for another reason, keeps its status although its lock was lost meanwhile.
func (s *session) sayEnd(r runResult) {
	if r.attempts == 0 {
		return
	}
	if s.Console.Enabled(console.Info) {
		s.Console.Say(console.Message{
			Level: console.Info, Event: console.EventReleased, Text: s.summary(r),
			Fields: []console.Field{
				{Name: "status", Value: r.status.Code}, {Name: "held_ms", Value: r.held.Milliseconds()},
				{Name: "renewals", Value: r.stats.Renewed}, {Name: "failed_tries", Value: r.stats.Failed},
				{Name: "closest_ms", Value: r.stats.Closest.Milliseconds()},
			},
		})
	}
	s.sayFailed(r)
	s.sayLeft(r.status.Left)
	if r.stats.Lost != nil && s.config.OnLost != config.ContinueCommand && !errors.As(r.err, new(*watchdog.LostError)) {
		s.Warn(console.EventLost, explain.LostMessage(r.stats.Lost, *s.about))
	}
}

// sayFailed says that the command failed, if the user wants to know: many jobs fail silently. A
// status of redlockrun's own has its message.
func (s *session) sayFailed(r runResult) {
	if !s.config.WarnFailed || r.err != nil || r.status.Code == 0 {
		return
	}
	how := s.failure(r)
	if r.status.Signal != 0 {
		how += fmt.Sprintf(", status %d,", r.status.Code)
	}
	text := fmt.Sprintf("%s on %s after %s, under lock %q", how, lock.HostName(), config.Rounded(r.held), s.config.Key)
	s.Warn(console.EventWarnFailed, text, console.Field{Name: "status", Value: r.status.Code},
		console.Field{Name: "held_ms", Value: r.held.Milliseconds()})
}

func leftBehind(processes int) string {
	if processes == 1 {
		return "1 process of the command still runs without the lock"
	}
	return fmt.Sprintf("%d processes of the command still run without the lock", processes)
}

func (s *session) summary(r runResult) string {
	text := fmt.Sprintf("lock %q was held for %s", s.config.Key, config.Rounded(r.held))
	if s.config.Address.Local {
		return text
	}
	return text + fmt.Sprintf(": %d renewals, %d failed tries, smallest margin %s",
		r.stats.Renewed, r.stats.Failed, config.Rounded(r.stats.Closest))
}

// stopped returns why redlockrun or its guard stopped the command; nil if it ended by itself.
func (s *session) stopped(lease lock.Lease, status runner.Status) error {
	if status.Stopped == nil && s.guardMayHaveKilled(lease, status) {
		return &watchdog.LostError{Err: watchdog.ErrLate}
	}
	return status.Stopped
}
