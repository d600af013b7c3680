package session

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// watchdog configures how the lease is kept, except what stops the command.
func (s *session) watchdog() watchdog.Config {
	return watchdog.Config{
		Times: s.config.Times, Timeout: s.config.Timeout, Continue: s.config.OnLost == config.ContinueCommand,
		Guard: s.guards.extend, Observer: observer{s},
	}
}

// stopFor returns the order to stop the command for an error of the watchdog.
func (s *session) stopFor(err error) *runner.StopError {
	var lost *watchdog.LostError
	if errors.As(err, &lost) {
		return &runner.StopError{Reason: lost, KillBy: lost.Kill}
	}
	return &runner.StopError{Reason: fmt.Errorf("keep lock %q: %w", s.config.Key, err)}
}

// guardMayHaveKilled reports whether the guard may have killed the command. Then it ended by
// SIGKILL, this process did not send one, and the guard's deadline has passed, because this
// process stood still.
func (s *session) guardMayHaveKilled(lease lock.Lease, status runner.Status) bool {
	return s.guards.needed() && s.config.OnLost != config.ContinueCommand && status.Signal == syscall.SIGKILL &&
		boottime.Until(s.config.Times.GuardKill(lease.Until())) <= 0
}

// An observer reports what happens to a session's lease.
type observer struct{ session *session }

// Failed warns once in an outage, but not about a single failure: the next try replaces a
// connection that was cut while idle.
func (t observer) Failed(tries int, err error, left time.Duration) {
	level := console.Debug
	switch tries {
	case 1:
		level = console.Info
	case 2:
		level = console.Warning
	}
	t.session.Console.Say(console.Message{
		Level: level, Event: console.EventUnrenewed, Err: err,
		Text: t.lockLabel() + " could not be renewed; trying again",
		Fields: []console.Field{
			{Name: "until_stop", Value: max(left, 0).Round(100 * time.Millisecond).String(), InText: true},
		},
	})
}

func (t observer) Recovered(tries int) {
	t.session.Console.Say(console.Message{
		Level: console.Info, Event: console.EventRenewed, Text: t.lockLabel() + " is renewed again",
		Fields: []console.Field{{Name: "failed", Value: tries, InText: true}},
	})
}

func (t observer) Continues(lost *watchdog.LostError) {
	t.session.Console.Say(console.Message{
		Level: console.Warning, Event: console.EventLost,
		Text:  explain.LostMessage(lost, *t.session.about) + "; the command continues without it",
		Hints: explain.HintList(explain.LostHint(lost, *t.session.about)),
	})
}

func (t observer) StopAsked() {
	t.session.Console.Say(console.Message{
		Level: console.Warning, Event: console.EventStopped, Hints: []string{explain.StoppedHint(t.session.config.Key)},
		Text: fmt.Sprintf("an operator stopped the run of %q (%s); redlockrun ends the command",
			t.session.config.Key, t.session.about.Where()),
	})
}

func (t observer) Regained() {
	t.session.Warn(console.EventRegained,
		fmt.Sprintf("lock %q is confirmed again: it was never lost", t.session.config.Key))
}

func (t observer) lockLabel() string {
	return "lock " + strconv.Quote(t.session.config.Key) + " (" + t.session.about.Where() + ")"
}
