package lock

import (
	"strings"
	"time"
)

// Clock is an instant as people are told it: by this host's time zone, which is named. Today
// goes without saying.
func Clock(t time.Time) string { return clockAt(t, time.Now()) }

func clockAt(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	form := time.DateTime
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		form = time.TimeOnly
	}
	return t.Format(form) + " " + ZoneName(t)
}

// ZoneName is CET, or UTC+11 where a zone has no letters.
func ZoneName(t time.Time) string {
	name, _ := t.Zone()
	if strings.Trim(name, "+-0123456789") == "" {
		name = "UTC" + t.Format("-07:00")
	}
	return strings.TrimSuffix(name, ":00")
}
