package config

import (
	"strings"
	"time"

	"redlockrun/internal/lock"
)

const (
	maxTries = 100
	maxSlot  = 128 // bytes of an ID
)

// slot combines --once-per, --once and --tries. period is that of --once-per, else 0.
func (r *parser) slot() (s lock.Slot, period time.Duration) {
	switch g := r.effective("once-per", "once"); {
	case !g.isSet():
		r.noTries()
		return lock.Slot{}, 0
	case g.name == "once":
		s.Name = r.slotID(g)
	default:
		period = r.period(g)
		s.Name = r.currentSlot(period)
	}
	s.Tries = r.positive("tries", maxTries)
	return s, period
}

// noTries refuses --tries without a slot. In the file it applies to the runs that have one.
func (r *parser) noTries() {
	if g := r.effective("tries"); g.isSet() && g.origin < file {
		r.fail(Usagef("%s needs --once-per or --once", g.sourceName).
			Hint("add --once-per P or --once ID"))
	}
}

func (r *parser) slotID(g setValue) string {
	id := g.last()
	if problem := keyProblem(id, maxSlot); problem != "" {
		r.fail(Usagef("%s %s", g.sourceName, problem).
			Hint("the ID of a slot is valid UTF-8, 1 to 128 bytes, without control characters"))
	}
	if strings.HasPrefix(id, "-") { // all runs would have this one slot
		r.fail(Usagef("%s %s: an ID must not begin with \"-\"", g.sourceName, quotable(id)).
			Hint("a shell variable may be empty: put it in quotes"))
	}
	return id
}

// period returns 0 if it is wrong.
func (r *parser) period(g setValue) time.Duration {
	p, err := parsePeriod(g.last())
	if err != nil {
		r.fail(Usagef("%s: %v", g.sourceName, err).Hint(durationHint + ", or 1d, 7d"))
		return 0
	}
	if !isLocal(p) && !dividesHour(p) {
		r.fail(Usagef("%s: the period does not divide an hour, a day or a week evenly", g.sourceName).
			Hint("use " + inLargestUnit(fittingPeriod(p)) +
				": P must divide an hour, or be 2h, 3h, 4h, 6h, 8h, 12h, 1d or 7d"))
		return 0
	}
	return p
}

// currentSlot returns the name of the present slot.
func (r *parser) currentSlot(period time.Duration) string {
	if period == 0 {
		return ""
	}
	now := r.sources.now()
	if !isLocal(period) {
		return slotName(period, now)
	}
	there, err := zone(r.sources.env, now.Location())
	if err != nil {
		r.fail(err)
		return ""
	}
	return slotName(period, now.In(there))
}

// noPauses refuses --ignore-pause for a local lock.
func noPauses(s *Sources, a Address) error {
	ignore, err := s.effective("ignore-pause")
	if err != nil {
		return err
	}
	return Usagef("%s and %s cannot be combined: a local lock is never paused", ignore.sourceName,
		a.From).Hint("leave it out")
}

// noSlots refuses a slot for a local lock.
func noSlots(s *Sources, a Address) error {
	once, err := s.effective("once-per", "once")
	if err != nil {
		return err
	}
	return Usagef("%s and %s cannot be combined: a local lock does not know what other hosts did",
		once.sourceName, a.From).
		Hint("slots are kept in Redis; on one host, cron starts the job once by itself")
}
