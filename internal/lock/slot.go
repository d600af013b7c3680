package lock

import "time"

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
	End    EndKind
	Status int // < 0: unknown
}
