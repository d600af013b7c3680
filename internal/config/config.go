// Package config reads the settings of redlockrun: from flags, variables of the environment, the
// configuration file, and defaults. The table of settings names each setting, with its default,
// once. Sources find the effective value, and a Config is the checked result.
package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// A Config is the checked settings of one run. A duration of 0 means none.
type Config struct {
	Key    string
	Times  lock.Times
	Wait   lock.Wait
	OnLost OnLost

	Permits Permits // none without --permits

	IgnorePause bool // run although the job is paused

	Slot       lock.Slot     // the piece of work; none without --once-per and --once
	SlotPeriod time.Duration // of --once-per; else 0
	History    int           // how many runs the ledger keeps; 0: this run is not recorded
	MaxAge     lock.MaxAge   // how old the last success may become, if the run says so

	KeepOutput int // how many bytes of what the command printed are kept if it ends badly; 0: none

	Attempts     int           // how often the command is started at most, at least once
	AttemptDelay time.Duration // after the first failure; each further pause is twice as long, up to MaxAttemptDelay
	Splay        time.Duration // delay the start by a part of it
	ReportFile   string        // the file for the report of the run; "" for none

	WarnFailed    bool          // warn if the command does not end with 0
	MaxRuntime    time.Duration // of each start
	MinHold       time.Duration
	Conflict      int           // the exit status when the lock stays busy
	WarnHeldAfter time.Duration // warn about a lock that is held for longer

	Address Address
	Servers lock.Servers  // not asked if Address.Local
	Timeout time.Duration // how long to ask a silent store

	PasswordCommand string // the shell text that prints the password of Servers; "" for none

	Enclosing []string // the run ids of the redlockruns around this one, the outermost first
	Warnings  []string // what the user should know about the settings

	sources *Sources
}

// OnLost says what happens to the command when the lock is lost.
type OnLost string

// The values of OnLost.
const (
	StopCommand     OnLost = "stop"
	ContinueCommand OnLost = "continue"
	PauseCommand    OnLost = "pause" // it stands still until the lock is held again
)

// Config reads the effective value of every setting, for a run of command, which is nil if there
// is none. Its error is a *UsageError.
func (s *Sources) Config(command []string) (Config, error) {
	r := parser{sources: s}
	c := Config{
		Key:    r.key(command),
		Times:  r.times(),
		Wait:   r.wait(),
		OnLost: OnLost(r.choice("on-lost", KindOnLost, string(StopCommand))),

		IgnorePause:  r.switchOn("ignore-pause"),
		History:      r.number("history", maxHistory),
		MaxAge:       r.maxAge(),
		KeepOutput:   r.size("keep-output"),
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
	c.Permits = r.permits()
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
	if c.Permits.Of > 0 {
		c.MaxAge = lock.MaxAge{}
	}
	c.Warnings = slices.Concat(c.Address.warnings(c.Servers.URLs), s.warnings())
	return c, nil
}

// checkPlace refuses settings that the kind of store does not support.
func (c Config) checkPlace() error {
	switch {
	case c.Wait.Max > 0 && !c.hasQueue():
		return Usagef("--max-waiters needs a queue; a local lock and a quorum have none").
			Hint("leave it out, or keep the lock in one Redis, Sentinel or Cluster")
	case c.Address.Local && c.Slot.Name != "":
		return noSlots(c.sources, c.Address)
	case c.Address.Local && c.IgnorePause:
		return noPauses(c.sources, c.Address)
	}
	return cmp.Or(c.checkPermits(), c.checkMaxAge(), c.checkOutput(), c.checkStand())
}

// hasQueue reports whether redlockrun keeps a queue of the lock's waiters there.
func (c Config) hasQueue() bool {
	return !c.Address.Local && len(strings.Fields(strings.Join(c.Servers.URLs, " "))) == 1
}

// Source names, for a message, where a setting without a default comes from; "" if it is not set.
func (c Config) Source(settings ...string) string {
	if c.sources == nil {
		return ""
	}
	g, err := c.sources.effective(settings...)
	if err != nil {
		return ""
	}
	return g.sourceName
}
