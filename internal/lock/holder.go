package lock

import (
	"fmt"
	"strconv"
	"time"
)

// A Holder says who has a lock: what is written into the store and shown to
// whoever finds the lock busy.
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
	Foreign  string        // of a value that is no record of ours: its first 1 KiB
}

// String is web-3:4121 (alice, php), each part escaped for a terminal.
func (h Holder) String() string {
	if h.Run == "" {
		return strconv.Quote(h.Foreign)
	}
	return fmt.Sprintf("%s:%d (%s, %s)", Escaped(h.Host), h.PID, Escaped(h.User), Escaped(h.Command))
}

// Escaped is a text from a store without what would steer a terminal or break a line.
func Escaped(s string) string {
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// Process is web-3:4121, escaped for a terminal; a foreign value is quoted.
func (h Holder) Process() string {
	if h.Run == "" {
		return strconv.Quote(h.Foreign)
	}
	return fmt.Sprintf("%s:%d", Escaped(h.Host), h.PID)
}

// RenewsWithin is after how long a holder that lives has renewed its lease: it may miss one
// renewal and two tries of it.
func (h Holder) RenewsWithin() time.Duration { return h.Every + 2*TimesOf(h.TTL).Try }

// Unrenewed is for how long a holder has not renewed a lease that it has since at, and of which
// so much is left now; late is whether that is longer than it should be: it is dead, frozen or
// cut off then. A lease that never ends tells nothing.
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
