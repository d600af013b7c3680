package redistest_test

import (
	"strconv"
	"testing"
	"time"

	"redlockrun/internal/redistest"
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
