package config

import (
	"strconv"

	"redlockrun/internal/lock"
)

// Permits says how many runs of a name there may be at a time.
type Permits struct {
	Of   int  // how many permits the name has; 0: it is a lock
	Take int  // how many of them the run takes
	All  bool // the run takes all of them
}

// permits combines --permits and --take.
func (r *parser) permits() (p Permits) {
	if p.Of = r.permitCount(); p.Of == 0 {
		if g := r.effective("take"); g.isSet() && g.origin < file {
			r.fail(Usagef("%s is for permits, and there are none", g.sourceName).
				Hint("--permits N says how many there are"))
		}
		return p
	}
	if g := r.effective("take"); g.isSet() && g.last() == "all" {
		p.All = true
		return p
	}
	p.Take = max(1, r.positive("take", lock.MostPermits))
	if p.Take > p.Of {
		r.fail(Usagef("%s %d is more than the %d permits that there are", r.effective("take").sourceName, p.Take, p.Of).
			Hint("--take all takes all of them"))
	}
	return p
}

// permitCount returns 0 if there are no permits.
func (r *parser) permitCount() int {
	g := r.effective("permits")
	if !g.isSet() {
		return 0
	}
	n := r.number("permits", lock.MostPermits)
	if n < 2 {
		r.fail(Usagef("%s %d is too few", g.sourceName, n).
			Hint("use a number from 2 to " + strconv.Itoa(lock.MostPermits) +
				"; without it, one run at a time has the lock"))
	}
	return n
}

// checkPermits refuses what one run alone can do, or say, of a name.
func (c Config) checkPermits() error {
	if c.Permits.Of == 0 {
		return nil
	}
	var with string
	switch {
	case c.Slot.Name != "":
		with = c.Source("once-per", "once")
	case c.MinHold > 0:
		with = c.Source("min-hold")
	case c.MaxAge.Limit > 0:
		with = c.Source("max-age")
	default:
		return nil
	}
	return Usagef("%s and %s cannot be combined: several runs have permits at a time", with, c.Source("permits")).
		Hint("nest two: the outer redlockrun takes the permit, the inner one has a lock of its own")
}
