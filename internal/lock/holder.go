package lock

import (
	"fmt"
	"time"
)

// A Holder says who has a lock: what is written into the store and shown to
// whoever finds the lock busy.
type Holder struct {
	Run     string // the ULID of the acquisition, 26 characters
	Host    string
	PID     int
	User    string
	Command string    // the base name; never the arguments
	Start   time.Time // the holder's wall clock
	Foreign string    // of a value that is no record of ours: its first 1 KiB
}

// String is web-3:4121 (alice, php), each part escaped for a terminal.
func (h Holder) String() string {
	if h.Run == "" {
		return fmt.Sprintf("%q", h.Foreign)
	}
	return fmt.Sprintf("%s:%d (%s, %s)", h.Host, h.PID, h.User, h.Command)
}
