package lock

import "time"

// A Slot is a piece of work to do once in the whole fleet. The zero value is none. Only the
// equality of names counts.
type Slot struct {
	Name  string // "5m 2026-03-01T12:05Z", or what the user called it: 1 to 128 bytes
	Tries int    // how many runs of it may fail; at least 1
}

// A SlotState is the store's record of one slot: that its work is done, or which runs have
// tried it. Any client of the server may have written it.
type SlotState struct {
	Closed   bool
	By       Try   // the run that closed it
	Begun    Try   // the run that has begun in it and not ended; Run is "" if there is none
	Failures []Try // the runs that failed in it, oldest first
}

// A Try is one run of a slot.
type Try struct {
	Run    string
	Host   string
	Ended  time.Time // the store's clock; zero: unknown
	End    EndKind
	Status int // < 0: unknown
}
