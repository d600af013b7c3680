package report

import (
	"fmt"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

const Day = 24 * time.Hour

// Ago is how long something has been over, in its largest unit: 4m ago. A clock that has
// gone back makes it now.
func Ago(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < Day:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	}
	return fmt.Sprintf("%dd ago", d/Day)
}

// Took is how long something took, in its two largest units: 2m05s, 8m, 12s, 3.2s, 40ms.
func Took(d time.Duration) string {
	switch d = max(0, d); {
	case d >= time.Millisecond && d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second && d.Truncate(100*time.Millisecond)%time.Second > 0:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	return Elapsed(d)
}

// Elapsed is like length for what goes on: no parts of a second.
func Elapsed(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return units(d, time.Minute, "m", time.Second, "s")
	case d < 2*Day:
		return units(d, time.Hour, "h", time.Minute, "m")
	}
	return units(d, Day, "d", time.Hour, "h")
}

func units(d, large time.Duration, l string, small time.Duration, s string) string {
	if rest := d % large / small; rest > 0 {
		return fmt.Sprintf("%d%s%02d%s", d/large, l, rest, s)
	}
	return fmt.Sprintf("%d%s", d/large, l)
}

// Since is how long ago an instant was; ok is false if it is unknown.
func Since(t, now time.Time) (d time.Duration, ok bool) { return now.Sub(t), !t.IsZero() }

// clock is an instant as the reader's clock shows it, in a table; zoned names the zone, too.
func clock(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateTime) }

func Zoned(t time.Time, zone *time.Location) string {
	return clock(t, zone) + " " + lock.ZoneName(t.In(zone))
}

// NotKnown stands for a value that is unknown or does not apply.
var NotKnown = console.Cell{Text: "-", Style: console.StyleFaint}

// cell is a text; "" is unknown.
func cell(text string, tone console.Style) console.Cell {
	if text == "" {
		return NotKnown
	}
	return console.Cell{Text: text, Style: tone}
}
