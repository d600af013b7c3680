package config

import (
	"time"

	"redlockrun/internal/lock"
)

// times derives the lock's times from --ttl; --renew-every and --grace override them.
func (r *parser) times() lock.Times {
	ttl := r.duration("ttl", 0)
	if ttl < minTTL || ttl > maxTTL {
		r.fail(Usagef("a ttl of %s is out of range", Exact(ttl)).Hint("a ttl is between 0.5 s and 7 days"))
	}
	set := overrides{r.duration("renew-every", shortestPeriod), r.duration("grace", 0)}
	t := set.apply(ttl)
	if r.err == nil && !t.Fit() {
		r.fail(set.noRoom(t))
	}
	return t
}

// The overrides replace times that follow from the ttl.
type overrides struct{ renew, grace time.Duration }

func (o overrides) apply(ttl time.Duration) lock.Times {
	t := lock.TimesOf(ttl)
	if o.renew != unset {
		t.Renew = o.renew
	}
	if o.grace != unset {
		t.Grace = o.grace
	}
	return t
}

func (o overrides) noRoom(t lock.Times) error {
	err := Usagef("a ttl of %s is too short for renewals every %s, two tries of %s, a grace of %s and a margin of %s",
		Rounded(t.TTL), Rounded(t.Renew), Rounded(t.Try), Rounded(t.Grace), Rounded(t.Margin))
	if ttl, ok := o.fitting(t.TTL); ok {
		return err.Hint("with these, --ttl " + Exact(ttl) + " fits")
	}
	return err.Hint("no ttl up to 7 days fits: shorten --renew-every or --grace")
}

// fitting returns the shortest ttl above the given one, in whole seconds, that has room for
// everything. A longer ttl adds more room than it needs, so that all fit from one point on.
func (o overrides) fitting(ttl time.Duration) (time.Duration, bool) {
	low, high := ttl/time.Second, maxTTL/time.Second
	if !o.apply(maxTTL).Fit() {
		return 0, false
	}
	for low+1 < high {
		if middle := (low + high) / 2; o.apply(middle * time.Second).Fit() {
			high = middle
		} else {
			low = middle
		}
	}
	return high * time.Second, true
}
