package lock

import (
	"fmt"
	"strconv"
	"time"
)

// A Holder describes the run that has a lock: the store keeps it, and messages about a busy lock
// show it.
type Holder struct {
	Run      string // the ULID of the acquisition, 26 characters
	Protocol int    // its release's, as it was read: it may be higher than ours; 0: unknown
	Host     string
	PID      int
	User     string
	Command  string        // the base name; never the arguments
	Start    time.Time     // the holder's wall clock
	TTL      time.Duration // of its lease; 0: unknown
	Every    time.Duration // how often it renews the lease, at the latest; 0: unknown
	Boot     string        // which boot of which machine it runs on; "": unknown
	Ended    time.Time     // the store's clock; not zero if the run has ended and only its min-hold is left
	Stop     string        // the id of the change by which an operator wants the run to end; "": none does
	Permits  int           // how many the name has, as the run says; 0: the lock is no part of a name, or unknown
	All      bool          // the run has the gate for as long as it runs, and so all permits
	Foreign  string        // of a value that is no record of ours: its first 1 KiB
}

// String returns web-3:4121 (alice, php), each part escaped for a terminal.
func (h Holder) String() string {
	if h.Run == "" {
		return strconv.Quote(h.Foreign)
	}
	return fmt.Sprintf("%s:%d (%s, %s)", Escaped(h.Host), h.PID, Escaped(h.User), Escaped(h.Command))
}

// Escaped returns a text from a store without characters that steer a terminal or break a line.
func Escaped(s string) string {
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// Process returns web-3:4121, escaped for a terminal; a foreign value is quoted.
func (h Holder) Process() string {
	if h.Run == "" {
		return strconv.Quote(h.Foreign)
	}
	return fmt.Sprintf("%s:%d", Escaped(h.Host), h.PID)
}

// RenewsWithin is the longest time in which a healthy holder renews its lease: it may miss one
// renewal and two tries of it.
func (h Holder) RenewsWithin() time.Duration { return h.Every + 2*TimesOf(h.TTL).Try }

// Unrenewed returns how long a holder has not renewed its lease, which it has had since at, and of
// which left remains now. late reports whether that is too long: the holder is dead, frozen or cut
// off. A lease without an end tells nothing.
func (h Holder) Unrenewed(left time.Duration, at, now time.Time) (d time.Duration, late bool) {
	if h.TTL <= 0 || h.Every <= 0 || left < 0 {
		return 0, false
	}
	d = max(0, h.TTL-left)
	if !at.IsZero() && !now.IsZero() {
		d = min(d, max(0, now.Sub(at)))
	}
	return d, d > h.RenewsWithin()
}
