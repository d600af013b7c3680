package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// localPeriods are the periods of slots that count from midnight. All others divide an hour, and
// count in UTC.
var localPeriods = []time.Duration{
	2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour, day, 7 * day,
}

func isLocal(period time.Duration) bool { return slices.Contains(localPeriods, period) }

func dividesHour(p time.Duration) bool {
	return p >= time.Second && p%time.Second == 0 && time.Hour%p == 0
}

// ParseAge is parsePeriod for how old something may be.
func ParseAge(text string) (time.Duration, error) { return parsePeriod(text) }

// parsePeriod reads a duration, or a number of days (1d).
func parsePeriod(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * day, nil
		}
	}
	return ParseDuration(text)
}

// fittingPeriod returns the longest valid period that is not longer than p, in whole minutes if p
// has some, or the shortest of all. A shorter period works as well: any period works that is not
// longer than the time from tick to tick.
func fittingPeriod(p time.Duration) time.Duration {
	for _, local := range slices.Backward(localPeriods) {
		if local <= p {
			return local
		}
	}
	step := time.Second
	if p >= time.Minute {
		step = time.Minute
	}
	fit := max(step, min(p, time.Hour).Truncate(step))
	for !dividesHour(fit) {
		fit -= step
	}
	return fit
}

// slotName returns the name of the slot at now: the period, and when the slot begins. A local slot
// begins at an hour of the wall clock in now's zone. When the clock repeats an hour, both belong
// to one slot, and so does the tick in it; when it skips one, the slot is shorter.
func slotName(period time.Duration, now time.Time) string {
	return inLargestUnit(period) + " " + slotStart(period, now)
}

func slotStart(period time.Duration, now time.Time) string {
	switch {
	case !isLocal(period) && period%time.Minute != 0:
		return now.UTC().Truncate(period).Format("2006-01-02T15:04:05Z")
	case !isLocal(period):
		return now.UTC().Truncate(period).Format("2006-01-02T15:04Z")
	case period < day:
		hours := int(period / time.Hour)
		return fmt.Sprintf("%sT%02d:00", now.Format(time.DateOnly), now.Hour()/hours*hours)
	case period == day:
		return now.Format(time.DateOnly)
	}
	return monday(now).Format(time.DateOnly)
}

// monday returns the first day of the week. It counts in UTC, which has a midnight each day.
func monday(now time.Time) time.Time {
	year, month, day := now.Date()
	sinceMonday := (int(now.Weekday()) + 6) % 7
	return time.Date(year, month, day-sinceMonday, 0, 0, 0, 0, time.UTC)
}

// inLargestUnit formats a period in its largest unit: 5m for 300 s, 90s for a minute and a half.
func inLargestUnit(period time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if period%unit.length == 0 {
			return fmt.Sprint(int64(period/unit.length), unit.name)
		}
	}
	return fmt.Sprint(int64(period/time.Second), "s")
}
