package redistest_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

func TestClockIsPushedWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	c := redistest.NewClock(t)
	s := redistest.Start(t, redistest.Options{Clock: c})
	for _, ahead := range []time.Duration{0, 40 * time.Second, -40 * time.Second, time.Hour} {
		if err := c.Push(ahead); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		reply, err := s.Do("TIME")
		if err != nil {
			t.Fatal(err)
		}
		said, err := strconv.ParseInt(reply.([]any)[0].(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(said, 0).Add(-ahead)
		if at.Before(before.Add(-2*time.Second)) || at.After(time.Now().Add(2*time.Second)) {
			t.Errorf("pushed by %s the server is off by %s", ahead, at.Sub(before))
		}
	}
}

func TestClockStandsStillWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	c := redistest.NewClock(t)
	s := redistest.Start(t, redistest.Options{Clock: c})
	for _, at := range []time.Time{time.UnixMicro(4_000_000_000_123_456), time.UnixMicro(3_900_000_000_000_001)} {
		if err := c.Stop(at); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			reply, err := s.Do("TIME")
			if err != nil {
				t.Fatal(err)
			}
			want := []any{strconv.FormatInt(at.Unix(), 10), strconv.Itoa(at.Nanosecond() / 1000)}
			if !slices.Equal(reply.([]any), want) {
				t.Errorf("stopped at %s it says %v, not %v", at, reply, want)
			}
		}
	}
	if err := c.Stop(time.Time{}); err != nil {
		t.Fatal(err)
	}
	reply, err := s.Do("TIME")
	if err != nil || reply.([]any)[0].(string) > "3900000000" {
		t.Errorf("going on it says %v, %v", reply, err)
	}
}
