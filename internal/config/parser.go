package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"redlockrun/internal/lock"
)

const (
	minTTL = 500 * time.Millisecond
	maxTTL = 7 * 24 * time.Hour

	// maxKey and maxPrefix are in bytes.
	maxKey    = 512
	maxPrefix = 512

	maxReplicas = 1000
	maxAttempts = 1000
	maxHistory  = 10_000
	maxCount    = 1 << 30 // for settings without a better limit

	// shortestPeriod keeps --renew-every and --lock-retry-delay from asking the server in
	// a tight loop.
	shortestPeriod = 10 * time.Millisecond
)

// MaxAttemptDelay is the longest pause between two starts of a command.
const MaxAttemptDelay = 10 * time.Minute

// A parser reads settings from sources and keeps the first error.
type parser struct {
	sources *Sources
	err     error
}

func (r *parser) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *parser) effective(names ...string) setValue {
	g, err := r.sources.effective(names...)
	if err != nil {
		r.fail(err)
		return setValue{}
	}
	return g
}

// text returns "" if the setting is not set.
func (r *parser) text(name string) string {
	if g := r.effective(name); g.isSet() {
		return g.last()
	}
	return ""
}

// unset is a duration that no user can set.
const unset time.Duration = -1

// duration returns unset if the setting is not set.
func (r *parser) duration(name string, least time.Duration) time.Duration {
	g := r.effective(name)
	if !g.isSet() {
		return unset
	}
	d, err := ParseDuration(g.last())
	if err != nil {
		r.fail(Usagef("%s: %v", g.sourceName, err).Hint(durationHint))
	} else if d < least {
		r.fail(Usagef("%s %s is too short", g.sourceName, Exact(d)).Hint("the minimum is " + Exact(least)))
	}
	return d
}

// limit returns 0 if the duration is not set.
func (r *parser) limit(name string, least time.Duration) time.Duration {
	return max(0, r.duration(name, least))
}

// attemptDelay returns the first pause, which must not exceed MaxAttemptDelay.
func (r *parser) attemptDelay() time.Duration {
	d := r.limit("attempt-delay", 0)
	if d > MaxAttemptDelay {
		r.fail(Usagef("%s %s is too long", r.effective("attempt-delay").sourceName, Exact(d)).
			Hint("the maximum is " + Exact(MaxAttemptDelay)))
	}
	return d
}

// number returns 0 if the setting is not set.
func (r *parser) number(name string, most int) int {
	g := r.effective(name)
	if !g.isSet() {
		return 0
	}
	n, err := strconv.ParseUint(g.last(), 10, 31)
	if err != nil || int(n) > most {
		problem := fmt.Sprintf("more than %d", most)
		if errors.Is(err, strconv.ErrSyntax) {
			problem = "not a whole number"
		}
		r.fail(Usagef("%s: %s is %s", g.sourceName, quotable(g.last()), problem).
			Hint(fmt.Sprintf("use a number from 0 to %d", most)))
	}
	return int(n)
}

// positive reads a number from 1.
func (r *parser) positive(name string, most int) int {
	g := r.effective(name)
	n := r.number(name, most)
	if g.isSet() && n == 0 {
		r.fail(Usagef("%s 0 lets nothing run", g.sourceName).Hint("the minimum is 1"))
	}
	return n
}

// choice returns the chosen word, or the first of choices if that is wrong.
func (r *parser) choice(name string, kind Kind, fallback string) string {
	g := r.effective(name)
	switch {
	case !g.isSet():
		return fallback
	case slices.Contains(kind.Choices(), g.last()):
		return g.last()
	}
	r.fail(Usagef("%s: %s is not a valid value", g.sourceName, quotable(g.last())).
		Hint(g.sourceName + " is one of " + strings.Join(kind.Choices(), ", ")))
	return fallback
}

func (r *parser) prefix() string {
	g := r.effective("prefix")
	if !g.isSet() {
		return "" // it is wrong
	}
	problem := keyProblem(g.last(), maxPrefix)
	if strings.ContainsAny(g.last(), "{}") {
		problem = "contains a brace" // it would move the hash tag away from the key
	}
	if problem != "" {
		r.fail(Usagef("%s %s", g.sourceName, problem).
			Hint("a prefix is valid UTF-8, 1 to 512 bytes, without control characters and braces"))
	}
	return g.last()
}

// servers reads everything but the URLs, which exclude --local.
func (r *parser) servers() lock.Servers {
	return lock.Servers{
		Prefix:               r.prefix(),
		CA:                   r.text("redis-ca"),
		Cert:                 r.text("redis-cert"),
		Key:                  r.text("redis-key"),
		ServerName:           r.serverName(),
		PasswordFile:         r.text("redis-password-file"),
		SentinelPasswordFile: r.text("sentinel-password-file"),
		Replicas:             r.number("replicas", maxReplicas),
		ReplicasTimeout:      r.duration("replicas-timeout", time.Millisecond),
		Durable:              r.switchOn("durable"),
		FilesTimeout:         r.duration("redis-timeout", time.Millisecond),
	}
}

// serverName returns a host name or an IP address, "" if it is not set. Its error does not repeat
// a wrong one, which may be a URL.
func (r *parser) serverName() string {
	g := r.effective("redis-server-name")
	if !g.isSet() || isHost(g.last()) {
		return r.text("redis-server-name")
	}
	r.fail(Usagef("%s is not a host name", g.sourceName).
		Hint("use a name without a port, as in the server's certificate"))
	return ""
}

func isHost(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return net.ParseIP(text) != nil || len(text) <= 253 && strings.Trim(text, letters) == ""
}

// keyProblem says why text cannot be a part of a Redis key; "" if it can.
func keyProblem(text string, most int) string {
	switch {
	case len(text) > most:
		return "is longer than " + strconv.Itoa(most) + " bytes"
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "contains a control character"
	}
	return ""
}

// wait combines --wait, --nonblock, --lock-retries and --lock-retry-delay. Retries without --wait
// are the only limit.
func (r *parser) wait() lock.Wait {
	w := lock.Wait{
		Retries: r.number("lock-retries", maxCount),
		Delay:   r.duration("lock-retry-delay", shortestPeriod),
		Max:     r.maxWaiters(),
	}
	g := r.effective("wait", "nonblock")
	switch {
	case !g.isSet(), g.name == "nonblock" && r.isSwitch(g):
		return w
	case g.last() == "forever":
		w.Limit = lock.Forever
	default:
		w.Limit = r.duration("wait", 0)
	}
	return w
}

// switchOn reads a switch that is off by default.
func (r *parser) switchOn(name string) bool {
	g := r.effective(name)
	return g.isSet() && r.isSwitch(g)
}

// isSwitch returns true; a value that is not a switch becomes the parser's error.
func (r *parser) isSwitch(g setValue) bool {
	if _, known := parseSwitch(g.last()); !known {
		r.fail(Usagef("%s: %s is neither true nor false", g.sourceName, quotable(g.last())))
	}
	return true
}

// maxWaiters returns 0 without a limit. A local lock and a quorum do not count waiters.
func (r *parser) maxWaiters() int {
	g := r.effective("max-waiters")
	if !g.isSet() {
		return 0
	}
	n := r.number("max-waiters", maxCount)
	if n == 0 {
		r.fail(Usagef("%s 0 allows no waiter", g.sourceName).Hint("to give up at once, use --wait 0"))
	}
	return n
}
