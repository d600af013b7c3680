package wire

import (
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// The value of a slot is a line of words:
//
//	closed <touched> <try>
//	open <touched> <begun: run/host, or -> <try> ...
//
// where touched is when it was last written, in ms of the store's clock, and a try is
// run/host/how/status/ended.

// ReadSlot reads the value of a slot; what cannot be read is a slot of which nothing is known.
func ReadSlot(value string) (s lock.SlotState) {
	words := strings.Split(value, " ")
	if len(value) > maxSlotState || len(words) < 3 {
		return lock.SlotState{}
	}
	switch words[0] {
	case "closed":
		s.Closed, s.By = true, readTry(words[2])
	case "open":
		s.Begun = readTry(words[2])
		for _, w := range words[3:] {
			if t := readTry(w); t.Run != "" {
				s.Failures = append(s.Failures, t)
			}
		}
	}
	return s
}

// SlotTouched is when the value of a slot was written last; zero if unknown.
func SlotTouched(value string) time.Time {
	if words := strings.SplitN(value, " ", 3); len(words) == 3 {
		return instant(words[1])
	}
	return time.Time{}
}

// MostSlots is how many slots are kept of a lock.
const MostSlots = 16

// maxSlotState bounds what is read of a slot.
const maxSlotState = 64 << 10

func readTry(w string) (t lock.Try) {
	parts := strings.Split(w, "/")
	t.Status = -1
	if len(parts) < 2 || len(parts[0]) != lock.RunIDLen {
		return t
	}
	t.Run, t.Host = parts[0], unword(parts[1])
	if len(parts) >= 5 {
		t.End, t.Ended = lock.EndKind(unword(parts[2])), instant(parts[4])
		if n := number(parts[3]); n <= 255 {
			t.Status = int(n)
		}
	}
	return t
}
