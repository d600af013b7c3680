package session

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// A leaseAt comes from a server whose clock shows now.
type leaseAt struct {
	fakeLease
	now time.Time
}

func (l *leaseAt) Instants() lock.Instants { return lock.Instants{Now: l.now} }

func TestClocksHalfASlotApartCauseAWarning(t *testing.T) {
	host := time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC)
	for _, c := range []struct {
		period time.Duration
		server time.Time
		want   string // "" for no warning
	}{
		{5 * time.Minute, host.Add(149 * time.Second), ""},
		{5 * time.Minute, host.Add(150 * time.Second), "differ by 2m30s: it is " + lock.LocalTime(host) +
			" on this host"},
		{5 * time.Minute, host.Add(-24 * time.Hour), "differ by 24h: it is " + lock.LocalTime(host) +
			" on this host, which named slot \"tick\", " +
			"and " + lock.LocalTime(host.Add(-24*time.Hour)) + " on the server"},
		{24 * time.Hour, host.Add(11 * time.Hour), ""},
		{0, host.Add(1000 * time.Hour), ""}, // a slot that the user has named
		{5 * time.Minute, time.Time{}, ""},  // there are servers that tell no time
	} {
		var said strings.Builder
		s := fakeSession(nil)
		s.Console = console.New(console.Warning, false, func(line []byte) { said.Write(line) })
		s.config.SlotPeriod, s.config.Slot = c.period, lock.Slot{Name: "tick", Tries: 2}
		s.compareClocks(host, &leaseAt{now: c.server})
		s.Console.Flush(5 * time.Second)
		if !strings.Contains(said.String(), c.want) || (c.want == "") != (said.Len() == 0) {
			t.Errorf("a server at %s, slots of %s: %q, want %q", c.server, c.period, said.String(), c.want)
		}
	}
}
