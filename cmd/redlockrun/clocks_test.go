package main

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/redistest"
)

// A leaseAt is of a server whose clock shows now.
type leaseAt struct {
	fakeLease
	now time.Time
}

func (l *leaseAt) Instants() lock.Instants { return lock.Instants{Now: l.now} }

func TestClocksThatAreHalfASlotApartAreWarnedOf(t *testing.T) {
	host := time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC)
	for _, c := range []struct {
		period time.Duration
		server time.Time
		want   string // "" for no warning
	}{
		{5 * time.Minute, host.Add(149 * time.Second), ""},
		{5 * time.Minute, host.Add(150 * time.Second), "differ by 2m30s: it is " + lock.Clock(host) + " here"},
		{5 * time.Minute, host.Add(-24 * time.Hour), "differ by 24h: it is " + lock.Clock(host) +
			" here, where slot \"tick\" has its name from, " +
			"and " + lock.Clock(host.Add(-24*time.Hour)) + " at the server"},
		{24 * time.Hour, host.Add(11 * time.Hour), ""},
		{0, host.Add(1000 * time.Hour), ""}, // a slot that the user has named
		{5 * time.Minute, time.Time{}, ""},  // there are servers that tell no time
	} {
		var said strings.Builder
		s := fakeSession(nil)
		s.console = console.New(console.Warning, false, func(line []byte) { said.Write(line) })
		s.SlotPeriod, s.Slot = c.period, lock.Slot{Name: "tick", Tries: 2}
		s.compareClocks(host, &leaseAt{now: c.server})
		s.console.Flush(patience)
		if !strings.Contains(said.String(), c.want) || (c.want == "") != (said.Len() == 0) {
			t.Errorf("a server at %s, slots of %s: %q, want %q", c.server, c.period, said.String(), c.want)
		}
	}
}

func TestARunAgainstAServerWithAnotherClockWarnsAndRuns(t *testing.T) {
	t.Parallel()
	clock := redistest.NewClock(t)
	s := redistest.Start(t, redistest.Options{Clock: clock})
	if err := clock.Push(time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ period, want string }{{"5m", "the clocks differ by "}, {"3h", ""}} {
		run := launch(t, s.URL(), "-k", "job", "--once-per", c.period, "--", "sh", "-c", "exit 7")
		run.ends(7)
		if said := run.stderr(); !strings.Contains(said, c.want) || (c.want == "") != (said == "") {
			t.Errorf("slots of %s: %q", c.period, said)
		}
	}
}
