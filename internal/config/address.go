package config

import (
	"slices"
	"strings"
)

// An Address is where the lock lives, and who said so.
type Address struct {
	URLs  []string // as they were given, more than one for a quorum; none if Local
	Local bool     // on this host alone
	Dir   string   // of a local lock; "" for the default
	From  string   // how a message names the source

	origin origin
}

// address finds the nearest of --redis and --local, which replace each other
// as a whole.
func (s *Sources) address() (Address, error) {
	g, err := s.nearest("redis", "local")
	if err != nil {
		return Address{}, err
	}
	if g.name == "local" {
		return localAddress(g)
	}
	return Address{URLs: g.values, From: g.called, origin: g.origin}, nil
}

func localAddress(g given) (Address, error) {
	a := Address{Local: true, From: g.called, origin: g.origin}
	if MayBeURL(g.last()) {
		return a, Usagef("%s is given a URL, not a directory", g.called).Hint("--redis URL is for a lock in Redis")
	}
	if on, known := parseSwitch(g.last()); !known || !on {
		a.Dir = g.last()
	}
	return a, nil
}

// Whence is "from" and the source, for a message.
func (a Address) Whence() string { return "from " + a.From }

// HasLine reports whether the waiters of a lock stand in a line of ours there.
func (a Address) HasLine() bool {
	return !a.Local && len(strings.Fields(strings.Join(a.URLs, " "))) == 1
}

// MayBeURL finds what is probably a URL in the wrong place, with a password or not.
func MayBeURL(text string) bool {
	user, _, at := strings.Cut(text, "@")
	return strings.Contains(text, "://") || at && strings.Contains(user, ":")
}

// warnings are what the user should know about an address before it is used.
func (a Address) warnings() []string {
	if a.origin == builtin {
		return []string{"no address was given: " + a.URLs[0] + " guards this host alone; " +
			"the line REDLOCKRUN_REDIS=" + a.URLs[0] + " in " + DefaultFile + " makes it explicit"}
	}
	if a.origin == flags && slices.ContainsFunc(a.URLs, hasPassword) {
		return []string{"the password in --redis can be read by everybody in ps; REDLOCKRUN_REDIS or --redis file:PATH keeps it private"}
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
