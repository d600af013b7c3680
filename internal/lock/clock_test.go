package lock

import (
	"testing"
	"time"
)

func TestLocalTimeNamesTheZone(t *testing.T) {
	was := time.Local
	t.Cleanup(func() { time.Local = was })
	time.Local = time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]string{
		now.Add(2 * time.Minute): "13:02:00 CET",
		now.Add(12 * time.Hour):  "2026-03-02 01:00:00 CET",
		now.AddDate(-1, 0, 0):    "2025-03-01 13:00:00 CET",
	} {
		if got := localTimeAt(at, now); got != want {
			t.Errorf("%s is told as %q, want %q", at, got, want)
		}
	}
	time.Local = time.FixedZone("+0530", 5*3600+1800)
	if got := localTimeAt(now, now); got != "17:30:00 UTC+05:30" {
		t.Errorf("a zone without letters: %q", got)
	}
}
