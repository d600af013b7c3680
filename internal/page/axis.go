package page

import (
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/report"
)

// A tick is an instant that the axis names.
type tick struct {
	left  int // as of a place
	text  string
	date  string // what day begins here, or is at the left edge
	minor bool   // it goes where there is little room
	side  int    // < 0: its text ends here; > 0: it begins here; else it is in the middle
}

// A shift is a change of the clocks.
type shift struct {
	at     time.Time
	before string // what the clock would have shown, with its zone
	after  string // what it shows
	back   time.Duration
}

// A step is how far two ticks are apart on the clock: a part of a day, or days.
type step struct {
	part time.Duration // 0: whole days
	each func(t time.Time) bool
	form string
}

const mostTicks = 13

// stepOf is the least step that leaves room between the ticks.
func stepOf(length time.Duration) step {
	for _, part := range []time.Duration{
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if length <= part*(mostTicks-1) {
			return step{part: part, form: "15:04"}
		}
	}
	switch {
	case length <= (mostTicks+1)*report.Day:
		return step{each: func(time.Time) bool { return true }, form: "Mon 2"}
	case length <= mostTicks*7*report.Day:
		return step{each: func(t time.Time) bool { return t.Weekday() == time.Monday }, form: "2 Jan"}
	case length <= mostTicks*31*report.Day:
		return step{each: func(t time.Time) bool { return t.Day() == 1 }, form: "Jan"}
	}
	return step{each: func(t time.Time) bool { return t.YearDay() == 1 }, form: "2006"}
}

// ticks returns the ticks of the axis, from left to right, by the clock of the zone.
func (t *timeline) ticks() (ticks []tick) {
	s := stepOf(t.to.Sub(t.from))
	quantum := 15 * time.Minute
	if s.part > 0 {
		quantum = time.Minute
	}
	shifts := t.shifts()
	ticks = append(ticks, tick{date: t.from.In(t.zone).Format("Mon 2 Jan")})
	for at := aligned(t.from.In(t.zone), quantum); at.Before(t.to); at = at.Add(quantum) {
		begins := at.Day() != at.Add(-quantum).Day()
		if s.due(at, begins) && !besides(at, shifts) {
			ticks = append(ticks, t.tick(at, s, begins, len(ticks)))
		}
		if s.part > 0 {
			ticks = append(ticks, t.shifted(at, shifts)...)
		}
	}
	return spread(ticks)
}

// aligned returns the first instant from t on that the clock shows as a multiple of a part of an
// hour.
func aligned(t time.Time, quantum time.Duration) time.Time {
	_, offset := t.Zone()
	shown := time.Duration(t.UnixNano()) + time.Duration(offset)*time.Second
	return t.Add((quantum - shown%quantum) % quantum)
}

func (s step) due(at time.Time, begins bool) bool {
	if s.part == 0 {
		return begins && s.each(at)
	}
	shown := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	return shown%s.part == 0
}

func (t *timeline) tick(at time.Time, s step, begins bool, n int) tick {
	k := tick{left: t.at(at), text: at.Format(s.form), minor: n%2 == 0}
	if twice(at) {
		k.text += " " + lock.ZoneName(at)
	}
	if begins && s.part > 0 {
		k.date = at.Format("Mon 2 Jan")
	}
	return k
}

// shifted returns the ticks of a change of the clocks: both beginnings of an hour that is shown
// twice.
func (t *timeline) shifted(at time.Time, shifts []shift) (ticks []tick) {
	for _, s := range shifts {
		switch {
		case at.Equal(s.at) && s.back > 0:
			ticks = append(ticks, tick{left: t.at(at), text: s.after, side: 1})
		case at.Equal(s.at):
			ticks = append(ticks, tick{left: t.at(at), text: s.after})
		case s.back > 0 && at.Equal(s.at.Add(-s.back)):
			ticks = append(ticks, tick{left: t.at(at), text: shownWithZone(at), side: -1})
		}
	}
	return ticks
}

// besides reports whether an instant is named by a change of the clocks.
func besides(at time.Time, shifts []shift) bool {
	for _, s := range shifts {
		if at.Equal(s.at) || s.back > 0 && at.Equal(s.at.Add(-s.back)) {
			return true
		}
	}
	return false
}

// spread makes minor what would touch the text of a change of the clocks, and takes the date
// from the left edge if a day begins near it.
func spread(ticks []tick) []tick {
	const near, dateWidth = 900, 1500
	for i := range ticks {
		for _, other := range ticks {
			if gap := other.left - ticks[i].left; ticks[i].text != "" && ticks[i].side == 0 && other.side != 0 &&
				gap > -2*near && gap < 2*near {
				ticks[i].minor = true
				if gap > -near && gap < near {
					ticks[i].text = "" // its line stays
				}
			}
			if i == 0 && other.date != "" && other.left > 0 && other.left < dateWidth {
				ticks[0].date = ""
			}
		}
	}
	return ticks
}

// shifts are the changes of the clocks in the window.
func (t *timeline) shifts() (all []shift) {
	const most = 100 // of any zone, in centuries
	for at := t.from.In(t.zone); len(all) < most; {
		_, next := at.ZoneBounds()
		if next.IsZero() || !next.Before(t.to) {
			return all
		}
		_, was := at.Zone()
		if _, is := next.Zone(); is != was {
			last := next.In(time.FixedZone("", was)).Format("15:04")
			all = append(all, shift{
				at: next, before: last + " " + lock.ZoneName(at), after: shownWithZone(next),
				back: time.Duration(was-is) * time.Second,
			})
		}
		at = next
	}
	return all
}

// twice reports whether the clock of the zone shows this hour a second time, or has shown it.
func twice(at time.Time) bool {
	begin, end := at.ZoneBounds()
	_, is := at.Zone()
	if !end.IsZero() {
		_, will := end.Zone()
		if at.Add(time.Duration(is-will)*time.Second).Compare(end) >= 0 {
			return true
		}
	}
	if begin.IsZero() {
		return false
	}
	_, was := begin.Add(-1).Zone()
	return at.Before(begin.Add(time.Duration(was-is) * time.Second))
}

func shownWithZone(t time.Time) string { return t.Format("15:04") + " " + lock.ZoneName(t) }
