package lock

import (
	"strings"
	"time"
)

// LocalTime formats an instant for people, in this host's named time zone. It leaves out today's
// date.
func LocalTime(t time.Time) string { return localTimeAt(t, time.Now()) }

func localTimeAt(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	form := time.DateTime
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		form = time.TimeOnly
	}
	return t.Format(form) + " " + ZoneName(t)
}

// An Instant formats for programs: RFC 3339 in UTC, with milliseconds.
type Instant struct{ time.Time }

func (i Instant) String() string { return i.UTC().Format("2006-01-02T15:04:05.000Z") }

// MarshalJSON always writes three digits; time.Time leaves out zeros.
func (i Instant) MarshalJSON() ([]byte, error) { return []byte(`"` + i.String() + `"`), nil }

// ZoneName returns CET, or UTC+11 where a zone has no letters.
func ZoneName(t time.Time) string {
	name, _ := t.Zone()
	if strings.Trim(name, "+-0123456789") == "" {
		name = "UTC" + t.Format("-07:00")
	}
	return strings.TrimSuffix(name, ":00")
}
