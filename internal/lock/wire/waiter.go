package wire

import (
	"strings"

	"redlockrun/internal/lock"
)

// ReadWaiter reads what is known of a waiter. Any client may have written it; a part that cannot be
// read is unknown. It is a line of words and the run's record:
//
//	<last seen, ms> <1: it can be called> [<slot> <tries>] {"run":...
func ReadWaiter(run, text string) lock.Waiter {
	w := lock.Waiter{Run: run}
	head, record, found := strings.Cut(text, " {")
	if !found || len(text) > maxEntry {
		return w
	}
	if words := strings.Split(head, " "); len(words) >= 4 {
		w.Slot = unword(words[2])
	}
	if r, _ := parseRecord("{" + record); r.Run == run {
		w.Host, w.PID, w.Since = r.Host, r.PID, instantOf(r.Asked)
	}
	return w
}
