package line_test

import (
	"fmt"
	"testing"
)

// standstill makes the last look of everybody ms older: nobody has looked since.
func (s steps) standstill(ms int64, runs ...string) {
	s.t.Helper()
	for _, run := range runs {
		s.age(run, ms)
	}
	var latest, since int64
	fmt.Sscan(s.do("HGET", "{n}:who", "looks").(string), &latest, &since)
	s.do("HSET", "{n}:who", "looks", fmt.Sprint(latest-ms, " ", since))
}

func TestWhoCouldNotLookIsNotSilent(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.once("a")
	s.join("b", "c")
	s.standstill(60000, "b", "c")
	s.release("a")
	s.want("b", "c")
}

func TestWhoDoesNotComeBackAfterAGapIsSilent(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.once("a")
	s.join("b", "c", "d")
	s.standstill(60000, "b", "c", "d")
	s.look("d") // the gap has ended now
	s.standstill(5000, "b", "c", "d")
	s.look("d")
	var latest, since int64
	fmt.Sscan(s.do("HGET", "{n}:who", "looks").(string), &latest, &since)
	s.do("HSET", "{n}:who", "looks", fmt.Sprint(latest, " ", since-13000)) // 13 s ago
	s.release("a")
	s.want("d", "")
}

// With nobody left who looks, a gap is an excuse but once.
func TestOneGapExcusesOnce(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.once("a")
	s.join("b", "c", "d")
	s.standstill(60000, "b", "c", "d")
	s.release("a")
	s.want("b", "cd")
	s.do("DEL", "{n}")
	var latest, since int64
	fmt.Sscan(s.do("HGET", "{n}:who", "looks").(string), &latest, &since)
	s.do("HSET", "{n}:who", "looks", fmt.Sprint(latest-13000, " ", since-13000)) // 13 s later
	s.code(s.once("e"), 1)
	s.want("e", "")
}

// Who comes back first after a gap finds the lock free, and leaves it to the first.
func TestWhoComesBackFirstLeavesTheLockToTheFirst(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.once("a")
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
	s := newSteps(t)
	s.once("a")
	_, stop := s.listen("b")
	s.look("b")
	s.join("c")
	stop()
	s.standstill(60000, "b", "c")
	s.look("c")
	s.release("a")
	s.want("b", "c")
}

// A newcomer does not wait for anybody whose connection is closed.
func TestNewcomerAfterAGapTakesWhatIsFree(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.once("a")
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
		{"{n}:line", 3, []any{"SET", "{n}:line", "x"}},
		{"{n}:line", 3, []any{"HSET", "{n}:line", "x", "y"}},
		{"{n}:who", 4, []any{"SET", "{n}:who", "x"}},
	} {
		s := newSteps(t)
		s.once("a")
		if c.n == 4 {
			s.do("ZADD", "{n}:line", 1, testID("b"))
		}
		s.do(c.what...)
		before := s.do("DUMP", c.key)
		if got := s.code(s.look("c"), -1); got[1] != c.n {
			t.Errorf("%v: look %v", c.what, got)
		}
		s.code(s.once("d"), 0) // it does not touch it
		if got := s.release("a"); got != int64(1) {
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
