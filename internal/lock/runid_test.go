package lock

import "testing"

func TestRunIDsOfOneMillisecondDiffer(t *testing.T) {
	const random = 16 // characters; those before are the time
	seen := make(map[string]bool)
	for range 10_000 {
		id := NewRunID()
		if len(id) != RunIDLen || seen[id[RunIDLen-random:]] {
			t.Fatalf("%q", id)
		}
		seen[id[RunIDLen-random:]] = true
	}
}
