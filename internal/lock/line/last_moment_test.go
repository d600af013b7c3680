package line_test

import (
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"

	"github.com/redis/go-redis/v9"
)

// In its last millisecond a key has a PTTL of 0, which is not that of a key that never ends. Of some hundred keys that
// live for one, a step finds a few then.
func TestWhatIsWrittenInTheLastMomentOfAKeyEnds(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.server.Socket(), Protocol: 2})
	defer c.Close()
	const pause = `{"pause":"01KAMHYV00FR0ZEN000000000A","v":1,"by":"o@desk","why":"","since":1,"until":2}`
	for name, last := range map[string]struct {
		key, value string
		step       []any
	}{
		"a lease whose run is stopped": {"{n}", testRecord("a"),
			s.words(line.Change(lock.ActStop), "o", "why", "", "", 0)},
		"a pause that takes the lock": {"{n}:paused", pause,
			s.words(s.text("acquire"), "b", testRecord("b"), testTTL, "once", 0, 0, 0)},
	} {
		for range 300 {
			s.do("FLUSHALL")
			p := c.Pipeline()
			p.Do(t.Context(), "SET", last.key, last.value, "PX", 1)
			p.Do(t.Context(), last.step...)
			if _, err := p.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.do("PTTL", "{n}") == int64(-1) {
				t.Fatalf("%s: %v is kept for ever", name, s.do("GET", "{n}"))
			}
		}
	}
}
