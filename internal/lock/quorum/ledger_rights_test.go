package quorum

import (
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
)

// TestWithoutOneRightOfTheLedgerNoMasterKeepsAnythingForEver: not even one that hears of a run when it ends.
func TestWithoutOneRightOfTheLedgerNoMasterKeepsAnythingForEver(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	for _, right := range strings.Fields(lock.LedgerACL) {
		command := strings.TrimPrefix(right, "+")
		for _, s := range all {
			locktest.Do(t, s, "FLUSHALL")
			locktest.Do(t, s, "ACL", "SETUSER", "default", "+@all", "-"+command)
		}
		for range 2 {
			l := acquireWhole(t, store, entered())
			locktest.Do(t, all[0], "FLUSHALL")
			locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndFailed, 1)))
		}
		for i, s := range all {
			for _, key := range locktest.Do(t, s, "KEYS", "*").([]any) {
				if locktest.Do(t, s, "PTTL", key).(int64) == -1 {
					t.Errorf("without %s server %d keeps %s for ever", command, i, key)
				}
			}
		}
	}
}
