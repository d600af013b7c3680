package main

import (
	"time"

	"redlockrun/internal/lock"
)

// times derives the lock's times from --ttl, with --renew-every and --grace in
// the place of what would follow from it.
func (r *reading) times() lock.Times {
	ttl := r.duration("ttl", time.Minute, 0)
	if ttl < minTTL || ttl > maxTTL {
		r.fail(usagef("a ttl of %s is out of range", exact(ttl)).hint("a ttl is between 0.5 s and 7 days"))
	}
	given := overlay{r.duration("renew-every", unset, shortestPeriod), r.duration("grace", unset, 0)}
	t := given.on(ttl)
	if r.err == nil && !t.Fit() {
		r.fail(given.refuse(t))
	}
	return t
}

// unset is no duration that a user can give.
const unset time.Duration = -1

// An overlay is what flags put in the place of times that follow from the ttl.
type overlay struct{ renew, grace time.Duration }

func (o overlay) on(ttl time.Duration) lock.Times {
	t := lock.TimesOf(ttl)
	if o.renew != unset {
		t.Renew = o.renew
	}
	if o.grace != unset {
		t.Grace = o.grace
	}
	return t
}

func (o overlay) refuse(t lock.Times) error {
	err := usagef("a ttl of %s has no room for renewals every %s, two tries of %s, a grace of %s and a margin of %s",
		rounded(t.TTL), rounded(t.Renew), rounded(t.Try), rounded(t.Grace), rounded(t.Margin))
	if ttl, ok := o.fitting(t.TTL); ok {
		return err.hint("with these, --ttl " + exact(ttl) + " fits")
	}
	return err.hint("no ttl up to 7 days fits: shorten --renew-every or --grace")
}

// fitting is the shortest ttl above the given one, in whole seconds, with room
// for everything. What a longer ttl adds is more than what it asks for, so
// that there is one point from which on all fit.
func (o overlay) fitting(ttl time.Duration) (time.Duration, bool) {
	low, high := ttl/time.Second, maxTTL/time.Second
	if !o.on(maxTTL).Fit() {
		return 0, false
	}
	for low+1 < high {
		if middle := (low + high) / 2; o.on(middle * time.Second).Fit() {
			high = middle
		} else {
			low = middle
		}
	}
	return high * time.Second, true
}
