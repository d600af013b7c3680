package line_test

import (
	"fmt"
	"testing"

	"redlockrun/internal/lock/wire"
)

// standstill makes the last look of everybody ms older: nobody has looked since.
func (s steps) standstill(ms int64, runs ...string) {
	s.t.Helper()
	for _, run := range runs {
		s.age(run, ms)
	}
	s.moveLooks(ms, 0)
}

// moveLooks puts into the past, by ms, when somebody looked last, and when the last gap ended.
func (s steps) moveLooks(last, gap int64) {
	s.t.Helper()
	var latest, since int64
	fmt.Sscan(s.do("HGET", "{n}:waiters", "looks").(string), &latest, &since)
	s.do("HSET", "{n}:waiters", "looks", fmt.Sprint(latest-last, " ", since-gap))
}

func TestWhoCouldNotLookIsNotSilent(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.standstill(60000, "b", "c")
	s.release("a")
	s.want("b", "c")
}

func TestWhoDoesNotComeBackAfterAGapIsSilent(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c", "d")
	s.standstill(60000, "b", "c", "d")
	s.look("d") // the gap has ended now
	s.standstill(5000, "b", "c", "d")
	s.look("d")
	s.moveLooks(0, 13000) // 13 s ago
	s.release("a")
	s.want("d", "")
}

// With nobody left who looks, a gap is an excuse but once.
func TestOneGapExcusesOnce(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c", "d")
	s.standstill(60000, "b", "c", "d")
	s.release("a")
	s.want("b", "cd")
	s.do("DEL", "{n}")
	s.moveLooks(13000, 13000) // 13 s later
	s.code(s.once("e"), 1)
	s.want("e", "")
}

// Who comes back first after a gap finds the lock free, and leaves it to the first.
func TestWhoComesBackFirstLeavesTheLockToTheFirst(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	_, stop := s.listen("b")
	s.look("b")
	s.join("c")
	stop()
	s.do("DEL", "{n}")
	s.standstill(60000, "b", "c")
	s.code(s.look("c"), 0)
	s.want("b", "c")
	s.until(func() bool { return s.do("EXISTS", "{n}") == int64(0) }) // it does not come
	s.code(s.look("c"), 1)
}

// A release just after the first is back leaves the others the same moment.
func TestWhoIsNotBackYetAfterAGapIsNotPassedOver(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	_, stop := s.listen("b")
	s.look("b")
	s.join("c")
	stop()
	s.standstill(60000, "b", "c")
	s.look("c")
	s.release("a")
	s.want("b", "c")
}

// Who is back first after a gap may be dismissed: it shows as well that the others can look again.
func TestWhoIsDismissedAfterAGapExcusesTheOthers(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	_, stop := s.listen("b")
	s.look("b")
	done := s
	done.slot, done.tries = "5m", 2
	done.join("c")
	stop()
	s.do("HSET", "{n}:slots", "5m", "closed 5 "+testID("z")+"/web-9/ok/0/5")
	s.do("DEL", "{n}")
	s.standstill(60000, "b", "c")
	s.code(done.look("c"), 6)
	s.want("b", "")
}

// Who is back first after a gap may be the next one as well: it has looked, and leaves the others the moment that it
// had.
func TestWhoGetsTheLockAfterAGapExcusesTheOthers(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b")
	_, stop := s.listen("c")
	s.look("c")
	stop()
	s.do("DEL", "{n}")
	s.standstill(60000, "b", "c")
	s.code(s.look("b"), 1)
	s.moveLooks(-3000, -3000) // as if it had been later: a busy machine takes its time
	s.release("b")
	s.want("c", "")
}

// So it is no gap if it comes before one is over.
func TestWhoGetsTheLockHasLooked(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "d")
	_, stop := s.listen("c")
	s.look("c")
	stop()
	s.do("DEL", "{n}")
	s.standstill(7000, "b", "c", "d")
	s.code(s.look("b"), 1)
	s.standstill(7000, "c", "d")
	s.do("ZADD", "{n}:queue", "0", testID("c"))
	s.do("DEL", "{n}")
	s.code(s.look("d"), 1)
	s.want("d", "")
}

// A newcomer does not wait for anybody whose connection is closed.
func TestNewcomerAfterAGapTakesWhatIsFree(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	_, stop := s.listen("b")
	s.look("b")
	stop()
	s.do("DEL", "{n}")
	s.standstill(60000, "b")
	s.code(s.once("c"), 1)
	s.want("c", "")
}

func TestLineOfAnotherTypeIsNoLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key  string
		n    int64
		what []any
	}{
		{"{n}:queue", 10, []any{"SET", "{n}:queue", "x"}},
		{"{n}:queue", 10, []any{"HSET", "{n}:queue", "x", "y"}},
		{"{n}:waiters", 11, []any{"SET", "{n}:waiters", "x"}},
	} {
		s := newLine(t, "a")
		if c.n == 11 {
			s.do("ZADD", "{n}:queue", 1, testID("b"))
		}
		s.do(c.what...)
		before := s.do("DUMP", c.key)
		if got := s.code(s.look("c"), -1); got[1] != c.n {
			t.Errorf("%v: look %v", c.what, got)
		}
		s.code(s.once("d"), 0) // it does not touch it
		if got := s.release("a"); got != int64(wire.Own) {
			t.Errorf("%v: release %v", c.what, got)
		}
		if got := s.code(s.once("d"), -1); got[1] != c.n {
			t.Errorf("%v: acquire %v", c.what, got)
		}
		if s.do("DUMP", c.key) != before || s.holder() != "" {
			t.Errorf("%v: something was written", c.what)
		}
	}
}
