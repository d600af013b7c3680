// Package config is what was said to redlockrun: by flags, by variables of the environment, in
// the configuration file, and by nobody, which is the default. The table of settings names
// each of them, with its default, once; Sources find the nearest that says something; and
// a Config is all of it, checked.
package config

import (
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// A Config is everything that was said about one run, checked. A duration is 0 if there is
// to be none.
type Config struct {
	Key    string
	Times  lock.Times
	Wait   lock.Wait
	OnLost OnLost

	IgnorePause bool // it runs although the job is paused

	Slot       lock.Slot     // what the run is for; none without --once-per and --once
	SlotPeriod time.Duration // of --once-per; else 0
	History    int           // how many runs the ledger keeps; 0: nothing is written of this one

	Attempts     int           // how often the command is started at most, at least once
	AttemptDelay time.Duration // the pause after the first failure; each further one is twice as long, up to MaxAttemptDelay
	Splay        time.Duration // the start is put off by a part of it
	ReportFile   string        // where is written how the run ended; "" for nowhere

	WarnFailed    bool          // a command that does not end with 0 is told of
	MaxRuntime    time.Duration // of each start
	MinHold       time.Duration
	Conflict      int           // the exit status when the lock stays busy
	WarnHeldAfter time.Duration // a lock that is held for longer should be looked at

	Address Address
	Servers lock.Servers  // none are asked if Address.Local
	Timeout time.Duration // how long a silent store is asked

	PasswordCommand string // the shell text that prints the password of Servers; "" for none

	Enclosing []string // the run ids of the redlockruns around this one, the outermost first
	Warnings  []string // what the user should know of all this

	sources *Sources
}

// OnLost is what becomes of the command when the lock is lost.
type OnLost string

// What OnLost can be.
const (
	StopCommand     OnLost = "stop"
	ContinueCommand OnLost = "continue"
)

// Config reads every setting from the nearest of its sources, for a run of command, which
// is nil if none was given. Its error is a *UsageError.
func (s *Sources) Config(command []string) (Config, error) {
	r := parser{sources: s}
	c := Config{
		Key:    r.key(command),
		Times:  r.times(),
		Wait:   r.wait(),
		OnLost: OnLost(r.choice("on-lost", KindOnLost, string(StopCommand))),

		IgnorePause:  r.switchOn("ignore-pause"),
		History:      r.number("history", maxHistory),
		Attempts:     r.positive("attempts", maxAttempts),
		AttemptDelay: r.attemptDelay(),
		Splay:        r.limit("splay", 0),
		ReportFile:   r.text("report-file"),

		WarnFailed:    r.switchOn("warn-failed"),
		MaxRuntime:    r.limit("max-runtime", 0),
		MinHold:       r.duration("min-hold", 0),
		Conflict:      r.number("conflict-exit-code", 255),
		WarnHeldAfter: r.limit("warn-held-after", time.Millisecond),

		Timeout: r.duration("redis-timeout", time.Millisecond),
		Servers: r.servers(),

		PasswordCommand: r.text("redis-password-command"),

		Enclosing: enclosingRuns(s.env),
		sources:   s,
	}
	c.Slot, c.SlotPeriod = r.slot()
	if r.err != nil {
		return Config{}, r.err
	}
	var err error
	if c.Address, c.Servers.URLs, err = s.address(); err != nil {
		return Config{}, err
	}
	if err = c.checkPlace(); err != nil {
		return Config{}, err
	}
	if c.Address.Local {
		c.History = 0
	}
	c.Warnings = slices.Concat(c.Address.warnings(c.Servers.URLs), s.warnings())
	return c, nil
}

// checkPlace refuses what the place of the lock does not have.
func (c Config) checkPlace() error {
	switch {
	case c.Wait.Max > 0 && !c.hasQueue():
		return Usagef("--max-waiters needs a line to count, which a local lock and a quorum do not have").
			Hint("leave it out, or keep the lock in one Redis, Sentinel or Cluster")
	case c.Address.Local && c.Slot.Name != "":
		return noSlots(c.sources, c.Address)
	case c.Address.Local && c.IgnorePause:
		return noPauses(c.sources, c.Address)
	}
	return nil
}

// hasQueue reports whether the waiters of a lock stand in a line of ours there.
func (c Config) hasQueue() bool {
	return !c.Address.Local && len(strings.Fields(strings.Join(c.Servers.URLs, " "))) == 1
}

// Source is how a message names the place that a setting without a default comes from;
// "" if nobody said anything.
func (c Config) Source(setting string) string {
	if c.sources == nil {
		return ""
	}
	g, err := c.sources.effective(setting)
	if err != nil {
		return ""
	}
	return g.sourceName
}
