package main

import (
	"redlockrun/internal/proof/redistest"
	"strings"
	"testing"
	"time"
)

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
