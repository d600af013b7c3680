package ledgers

import (
	"time"

	"redlockrun/internal/lock"
)

// Now is when the store returned the jobs.
var Now = time.Date(2026, 3, 1, 12, 30, 0, 250e6, time.UTC)

// Before returns the instant that is d before Now.
func Before(d time.Duration) time.Time { return Now.Add(-d) }

// Zone is the reader's time zone.
var Zone = time.FixedZone("", 2*3600)

// Run returns the id of run n, a letter.
func Run(n byte) string { return "01ARZ3NDEKTSV4RRFFQ69G5FA" + string(n) }

// Over returns the entry of a run that took d and ended so long ago.
func Over(id byte, how lock.EndKind, status int, d, ago time.Duration) lock.Entry {
	return lock.Entry{
		Run: Run(id), Host: "web-3", User: "alice", PID: 4121, Command: "php",
		Fence: 1763790000123, Attempts: 1, End: how, Status: status,
		Asked: Before(ago + d + 1500*time.Millisecond), At: Before(ago + d), Ended: Before(ago),
	}
}

// Holder returns run id as the holder of a lock.
func Holder(id byte, host string) lock.Holder {
	return lock.Holder{Run: Run(id), Host: host, PID: 4121, User: "alice", Command: "php"}
}
