package config

import (
	"slices"
	"strings"
)

// An Address is the kind of store that the user asked for, and where that was set.
type Address struct {
	Local bool   // on this host alone; else in Redis
	Dir   string // of a local lock; "" for the default
	From  string // how a message names the source

	origin origin
}

// address returns the effective value of --redis and --local, which replace each other as a whole.
// A local lock has no urls.
func (s *Sources) address() (a Address, urls []string, err error) {
	g, err := s.effective("redis", "local")
	if err != nil {
		return Address{}, nil, err
	}
	a = Address{From: g.sourceName, origin: g.origin}
	if g.name == "redis" {
		return a, g.values, nil
	}
	if MayBeURL(g.last()) {
		return a, nil, Usagef("%s expects a directory, not a URL", g.sourceName).
			Hint("--redis URL is for a lock in Redis")
	}
	a.Local = true
	if on, known := parseSwitch(g.last()); !known || !on {
		a.Dir = g.last()
	}
	return a, nil, nil
}

// FromSource returns "from" and the source, for a message.
func (a Address) FromSource() string { return "from " + a.From }

// MayBeURL reports whether text is probably a URL in the wrong place, with a password or not.
func MayBeURL(text string) bool {
	user, _, at := strings.Cut(text, "@")
	return strings.Contains(text, "://") || at && strings.Contains(user, ":")
}

// warnings returns what the user should know about an address before its use.
func (a Address) warnings(urls []string) []string {
	if a.origin == builtin {
		return []string{"no address was given: " + urls[0] + " works on this host only; " +
			"the line " + variableOf("redis") + "=" + urls[0] + " in " + DefaultFile + " makes it explicit"}
	}
	if a.origin == flags && slices.ContainsFunc(urls, hasPassword) {
		return []string{"every user can read the password in --redis with ps; " +
			"REDLOCKRUN_REDIS or --redis file:PATH keeps it private"}
	}
	return nil
}

// hasPassword accepts more than a URL parser would: a password that breaks the URL is one too.
func hasPassword(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 && strings.Contains(rest[:at], ":") {
		return true
	}
	return strings.Contains(strings.ToLower(rest), "password=")
}
