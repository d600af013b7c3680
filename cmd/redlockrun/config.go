package main

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"redlockrun/internal/lock"
)

// A config is everything that one run needs to know, checked.
type config struct {
	key    string
	times  lock.Times
	wait   lock.Wait
	onLost onLost

	maxRuntime time.Duration // 0: none
	minHold    time.Duration
	conflict   int // the status when the lock stays busy

	warnHeldAfter time.Duration // a lock that is held for longer should be looked at; 0: no matter

	address   address
	timeout   time.Duration // how long a silent store is asked
	prefix    string
	tls       tlsFiles
	passwords passwordFiles
	replicas  int           // how many must have acknowledged the lock
	acking    time.Duration // how long they are waited for
	durable   bool          // the servers of a quorum keep their data
	command   []string
	enclosing []string // the run ids of the redlockruns around this one
	sources   sources
	warnings  []string
}

// tlsFiles are paths; "" where nothing was said.
type tlsFiles struct{ ca, cert, key string }

// passwordFiles are paths; "" where nothing was said.
type passwordFiles struct{ redis, sentinel string }

type onLost string

const (
	stopCommand     onLost = "stop"
	continueCommand onLost = "continue"
)

const (
	minTTL = 500 * time.Millisecond
	maxTTL = 7 * 24 * time.Hour

	// maxKey and maxPrefix are bytes.
	maxKey    = 512
	maxPrefix = 512

	maxReplicas = 1000

	// shortestPeriod keeps --renew-every and --lock-retry-delay from asking the server in
	// a tight loop.
	shortestPeriod = 10 * time.Millisecond
)

// configure reads every setting from the nearest of its sources.
func configure(from sources, env lookup) (config, error) {
	r := reading{sources: from}
	c := config{
		key:        r.key(),
		times:      r.times(),
		wait:       r.wait(),
		onLost:     onLost(r.choice("on-lost", string(stopCommand), string(continueCommand))),
		maxRuntime: r.duration("max-runtime", 0, 0),
		minHold:    r.duration("min-hold", 0, 0),
		conflict:   r.number("conflict-exit-code", statusBusy, 255),

		warnHeldAfter: r.duration("warn-held-after", 0, time.Millisecond),

		timeout:   r.duration("redis-timeout", 5*time.Second, time.Millisecond),
		prefix:    r.prefix(),
		tls:       tlsFiles{r.text("redis-ca", ""), r.text("redis-cert", ""), r.text("redis-key", "")},
		passwords: passwordFiles{r.text("redis-password-file", ""), r.text("sentinel-password-file", "")},
		replicas:  r.number("replicas", 0, maxReplicas),
		acking:    r.duration("replicas-timeout", lock.DefaultReplicasTimeout, time.Millisecond),
		durable:   r.on("durable"),
		enclosing: enclosingRuns(env),
		sources:   from,
	}
	if r.err != nil {
		return config{}, r.err
	}
	var err error
	if c.address, err = from.address(env); err != nil {
		return config{}, err
	}
	if c.wait.Max > 0 && !c.address.hasLine() {
		return config{}, usagef("--max-waiters needs a line to count, which a local lock and a quorum do not have").hint("leave it out, or keep the lock in one Redis, Sentinel or Cluster")
	}
	c.warnings = slices.Concat(c.address.warnings(), from.warnings(), c.exposed())
	return c, nil
}

// A reading takes values out of sources and keeps the first error.
type reading struct {
	sources sources
	err     error
}

func (r *reading) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reading) nearest(names ...string) given {
	g, err := r.sources.nearest(names...)
	if err != nil {
		r.fail(err)
		return given{}
	}
	return g
}

func (r *reading) text(name, otherwise string) string {
	if g := r.nearest(name); g.said() {
		return g.last()
	}
	return otherwise
}

func (r *reading) duration(name string, otherwise, least time.Duration) time.Duration {
	g := r.nearest(name)
	if !g.said() {
		return otherwise
	}
	d, err := parseDuration(g.last())
	if err != nil {
		r.fail(usagef("%s: %v", g.called, err).hint(durationHint))
	} else if d < least {
		r.fail(usagef("%s %s is too short", g.called, exact(d)).hint("the least is " + exact(least)))
	}
	return d
}

func (r *reading) number(name string, otherwise, most int) int {
	g := r.nearest(name)
	if !g.said() {
		return otherwise
	}
	n, err := strconv.ParseUint(g.last(), 10, 31)
	if err != nil || int(n) > most {
		r.fail(usagef("%s: %s is no number from 0 to %d", g.called, shown(g.last()), most))
	}
	return int(n)
}

// choice returns what was chosen, or the first of choices.
func (r *reading) choice(name string, choices ...string) string {
	g := r.nearest(name)
	if !g.said() {
		return choices[0]
	}
	for _, choice := range choices {
		if g.last() == choice {
			return choice
		}
	}
	r.fail(usagef("%s: %s is none of its values", g.called, shown(g.last())).hint(g.called + " is one of " + strings.Join(choices, ", ")))
	return choices[0]
}

func (r *reading) key() string {
	g := r.nearest("key")
	if !g.said() {
		if r.err == nil {
			r.fail(usagef("no key was given").hint("redlockrun --key NAME -- COMMAND; two runs with the same NAME exclude each other"))
		}
		return ""
	}
	if problem := unfit(g.last(), maxKey); problem != "" {
		r.fail(usagef("%s %s", g.called, problem).hint("a key is valid UTF-8, 1 to 512 bytes, without control characters"))
	}
	return g.last()
}

func (r *reading) prefix() string {
	g := r.nearest("prefix")
	if !g.said() {
		return "redlockrun:"
	}
	problem := unfit(g.last(), maxPrefix)
	if strings.ContainsAny(g.last(), "{}") {
		problem = "contains a brace" // which would move the hash tag away from the key
	}
	if problem != "" {
		r.fail(usagef("%s %s", g.called, problem).hint("a prefix is valid UTF-8, 1 to 512 bytes, without control characters and braces"))
	}
	return g.last()
}

// unfit says why text cannot be a part of a Redis key, or nothing.
func unfit(text string, most int) string {
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

// wait puts --wait, --nonblock, --lock-retries and --lock-retry-delay together.
// Retries without a wait are the only limit.
func (r *reading) wait() lock.Wait {
	w := lock.Wait{
		Retries: r.number("lock-retries", 0, 1<<30),
		Delay:   r.duration("lock-retry-delay", 200*time.Millisecond, shortestPeriod),
		Max:     r.maxWaiters(),
	}
	g := r.nearest("wait", "nonblock")
	switch {
	case !g.said(), g.name == "nonblock" && r.isSwitch(g):
		return w
	case g.last() == "forever":
		w.Limit = lock.Forever
	default:
		w.Limit = r.duration("wait", 0, 0)
	}
	return w
}

// on is a switch that is off unless it is thrown.
func (r *reading) on(name string) bool {
	g := r.nearest(name)
	return g.said() && r.isSwitch(g)
}

// isSwitch is true; a value that is none becomes the reading's error.
func (r *reading) isSwitch(g given) bool {
	if _, known := parseSwitch(g.last()); !known {
		r.fail(usagef("%s: %s is neither true nor false", g.called, shown(g.last())))
	}
	return true
}

// maxWaiters is 0 without a limit. A file's own queue, and a quorum, count no waiters.
func (r *reading) maxWaiters() int {
	g := r.nearest("max-waiters")
	if !g.said() {
		return 0
	}
	n := r.number("max-waiters", 0, 1<<30)
	if n == 0 {
		r.fail(usagef("%s 0 lets nobody wait", g.called).hint("--wait 0 does not wait"))
	}
	return n
}
