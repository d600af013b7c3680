package main

import (
	"strings"
)

const defaultRedis = "redis://127.0.0.1:6379"

// An address is where the lock lives, and who said so.
type address struct {
	urls  []string // as they were given; empty if local
	local bool
	dir   string // of a local lock; "" for the default
	from  string // how a message names the source
	name  string // how a message names the place; set once it has been opened
	kind  addressKind
}

type addressKind int

const (
	said addressKind = iota // by flag, variable or file
	byFlag
	byDefault
)

// address finds the nearest of --redis and --local, which replace each other
// as a whole, then REDIS_URL, then the default.
func (s sources) address(env lookup) (address, error) {
	g, err := s.nearest("redis", "local")
	switch {
	case err != nil:
		return address{}, err
	case g.name == "local":
		return localAddress(g)
	case g.said():
		a := address{urls: g.values, from: g.called}
		if strings.HasPrefix(g.called, "--") {
			a.kind = byFlag
		}
		return a, nil
	}
	if url, set := env("REDIS_URL"); set {
		if strings.TrimSpace(url) == "" {
			return address{}, usagef("REDIS_URL is empty").hint("give it a value, leave it out, or say --redis")
		}
		return address{urls: []string{url}, from: "REDIS_URL"}, nil
	}
	return address{urls: []string{defaultRedis}, from: "the built-in default", kind: byDefault}, nil
}

func localAddress(g given) (address, error) {
	a := address{local: true, from: g.called}
	if mayBeURL(g.last()) {
		return a, usagef("%s is given a URL, not a directory", g.called).hint("--redis URL is for a lock in Redis")
	}
	if on, known := parseSwitch(g.last()); !known || !on {
		a.dir = g.last()
	}
	return a, nil
}

// mayBeURL finds what is probably a URL in the wrong place, with a password or not.
func mayBeURL(text string) bool {
	user, _, at := strings.Cut(text, "@")
	return strings.Contains(text, "://") || at && strings.Contains(user, ":")
}

// warnings are what the user should know about an address before it is used.
func (a address) warnings() []string {
	if a.kind == byDefault {
		return []string{"no address was given: " + defaultRedis + " guards this host alone; the line REDLOCKRUN_REDIS=" + defaultRedis + " in " + defaultConfig + " makes it explicit"}
	}
	for _, url := range a.urls {
		if a.kind == byFlag && hasPassword(url) {
			return []string{"the password in --redis can be read by everybody in ps; REDLOCKRUN_REDIS or --redis file:PATH keeps it private"}
		}
	}
	return nil
}

// hasPassword looks wider than a URL parser would: a password that breaks the
// URL is one too.
func hasPassword(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 && strings.Contains(rest[:at], ":") {
		return true
	}
	return strings.Contains(strings.ToLower(rest), "password=")
}

// place is the address as a message names it, without user and password, and
// where it came from.
func (a address) place() string { return a.name + ", " + a.whence() }

func (a address) whence() string { return "from " + a.from }

// hasLine reports whether the waiters of a lock stand in a line of ours there.
func (a address) hasLine() bool {
	return !a.local && len(strings.Fields(strings.Join(a.urls, " "))) == 1
}
