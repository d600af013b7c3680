package line_test

import (
	"testing"

	"redlockrun/internal/lock/wire"
)

func TestVanishedKeyIsFreeForTheFirstInLine(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.do("DEL", "{n}")
	if got := s.code(s.once("d"), 0); !begins(got[2], "b") {
		t.Errorf("busy: %v", got)
	}
	s.want("b", "c")
	s.do("DEL", "{n}")
	s.code(s.look("c"), 1)
	s.want("c", "")
	s.do("DEL", "{n}")
	s.code(s.once("d"), 1)
}

func TestFlushedDataAreFreeForWhoeverAsks(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.do("FLUSHALL")
	s.code(s.look("c"), 1)
	s.code(s.look("b"), 0)
	s.want("c", "b")
}

func TestReleaseOfAVanishedLockHandsOver(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.do("DEL", "{n}")
	if got := s.release("c"); got != int64(wire.Free) { // which leaves
		t.Errorf("release: %v", got)
	}
	s.want("b", "")
}
