package lock

import (
	"strings"
	"time"
)

// A Slot is a piece of work that is to be done once in the whole fleet. The zero value is
// none. Only the equality of names counts.
type Slot struct {
	Name  string // "5m 2026-03-01T12:05Z", or what the user called it: 1 to 128 bytes
	Tries int    // so many runs of it may fail; at least 1
}

// A SlotState is what the store keeps of one slot, as anybody may have written it: that its
// work is done, or who has tried it.
type SlotState struct {
	Closed   bool
	By       Try   // who closed it
	Begun    Try   // who has begun in it and not ended; Run is "" if nobody has
	Failures []Try // who has failed in it, the first one first
}

// A Try is one run of a slot.
type Try struct {
	Run    string
	Host   string
	Ended  time.Time // the store's clock; zero: unknown
	How    How
	Status int // < 0: unknown
}

// The value of a slot is a line of words:
//
//	closed <touched> <try>
//	open <touched> <begun: run/host, or -> <try> ...
//
// where touched is when it was last written, in ms of the store's clock, and a try is
// run/host/how/status/ended.

// ReadSlot reads the value of a slot; what cannot be read is a slot of which nothing is known.
func ReadSlot(value string) (s SlotState) {
	words := strings.Split(value, " ")
	if len(value) > maxSlotState || len(words) < 3 {
		return SlotState{}
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

// SlotTouched is when the value of a slot was written last; zero if nobody knows.
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

func readTry(w string) (t Try) {
	parts := strings.Split(w, "/")
	t.Status = -1
	if len(parts) < 2 || len(parts[0]) != RunIDLen {
		return t
	}
	t.Run, t.Host = parts[0], unword(parts[1])
	if len(parts) >= 5 {
		t.How, t.Ended = How(unword(parts[2])), instant(parts[4])
		if n := number(parts[3]); n <= 255 {
			t.Status = int(n)
		}
	}
	return t
}

// Word is the slot's name as one word of a line; "-" for none.
func (s Slot) Word() string { return word(s.Name) }
