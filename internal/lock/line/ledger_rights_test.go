package line_test

import (
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// TestWithoutOneRightOfTheLedgerNothingStaysForEver: each of its keys expires and is bounded, whichever of its commands
// is
// refused.
func TestWithoutOneRightOfTheLedgerNothingStaysForEver(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	for _, right := range strings.Fields(lock.LedgerACL) {
		command := strings.TrimPrefix(right, "+")
		locktest.Do(t, srv, "FLUSHALL")
		locktest.Do(t, srv, "ACL", "SETUSER", "some", "on", ">pw", "~*", "&*", "+@all", "-"+command)
		s := open(t, strings.Replace(srv.URL(), "redis://", "redis://some:pw@", 1))
		for _, how := range []lock.EndKind{lock.EndOk, lock.EndFailed, lock.EndFailed, lock.EndFailed} {
			req := locktest.RequestFor("job")
			req.History = 2
			l := locktest.Acquire(t, s, req)
			locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience),
				lock.ReleaseRequest{Result: lock.RunResult{End: how, Attempts: 1}}))
			locktest.Acquire(t, s, req)
			locktest.Do(t, srv, "DEL", jobKey) // it dies without a word
		}
		for _, key := range locktest.Do(t, srv, "KEYS", "*").([]any) {
			if locktest.Do(t, srv, "PTTL", key).(int64) < 0 {
				t.Errorf("without %s %s stays for ever", command, key)
			}
		}
		for _, list := range []string{":runs", ":bad"} {
			if n := locktest.Do(t, srv, "LLEN", jobKey+list).(int64); n > 2 {
				t.Errorf("without %s %s has %d entries, and 2 are needed", command, list, n)
			}
		}
	}
}
