package config

import (
	"time"

	"redlockrun/internal/lock"
)

// shortestMaxAge is the shortest that --max-age takes, but for 0.
const shortestMaxAge = time.Second

// maxAge is how old the last success may become, if the run says so.
func (r *parser) maxAge() lock.MaxAge {
	g := r.effective("max-age")
	if !g.isSet() {
		return lock.MaxAge{}
	}
	d, err := ParseAge(g.last())
	switch {
	case err != nil:
		r.fail(Usagef("%s: %v", g.sourceName, err).Hint(durationHint + ", or 1d, 7d"))
	case d > 0 && d < shortestMaxAge:
		r.fail(Usagef("%s %s is too short", g.sourceName, Exact(d)).Hint("the minimum is 1s; 0 removes the limit"))
	case d > lock.LongestMaxAge:
		r.fail(Usagef("%s %s is too long", g.sourceName, inLargestUnit(d)).
			Hint("the maximum is " + inLargestUnit(lock.LongestMaxAge)))
	}
	return lock.MaxAge{Set: true, Limit: d}
}

// checkMaxAge refuses a limit where nothing is remembered by which it could be judged. 0, which takes back what the
// file says, is no limit.
func (c Config) checkMaxAge() error {
	if c.MaxAge.Limit == 0 || c.History > 0 && !c.Address.Local {
		return nil
	}
	g, err := c.sources.effective("max-age")
	if err != nil {
		return err
	}
	without, why := "--history 0", "this run is not recorded"
	if c.Address.Local {
		without, why = c.Address.From, "a local lock file keeps no history"
	}
	return Usagef("%s and %s cannot be combined: %s", g.sourceName, without, why).Hint("--max-age 0 turns it off")
}
