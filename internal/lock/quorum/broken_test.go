package quorum

import (
	"fmt"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

const brokenLedgers = "TestABrokenLedgerChangesNoRunOfAQuorum"

// breakages are what can be wrong with the ledger of a master.
var breakages = map[string]func(t *testing.T, s *redistest.Server){
	"of other types": func(t *testing.T, s *redistest.Server) {
		for _, key := range []string{jobKey + ":job", jobKey + ":runs", jobKey + ":bad", "redlockrun:jobs"} {
			locktest.Do(t, s, "SET", key, "x")
		}
	},
	"lists of other types": func(t *testing.T, s *redistest.Server) {
		locktest.Do(t, s, "HSET", jobKey+":runs", "x", "y")
		locktest.Do(t, s, "SET", jobKey+":bad", "y")
	},
	"forged": func(t *testing.T, s *redistest.Server) {
		open := "01M81DMTT12W82XVDCC6DMTXSB a/b % = - - - - - -"
		locktest.Do(t, s, "HSET", jobKey+":job", "open", open, "unconfirmed", strings.Repeat(open+"\n\n", 99)+"x\x00",
			"mean", "1e999 -1",
			"count:ok", "x", "listed", "{}")
		locktest.Do(t, s, "RPUSH", jobKey+":runs", "x", strings.Repeat("y ", 9999))
	},
	"forbidden": func(t *testing.T, s *redistest.Server) {
		words := []any{"ACL", "SETUSER", "default"}
		for _, right := range strings.Fields(strings.Replace(lock.LedgerACL, "+hset", "", 1)) { // slots need it
			words = append(words, "-"+strings.TrimPrefix(right, "+"))
		}
		locktest.Do(t, s, words...)
	},
}

// broken is what is wrong with the ledgers of a test's masters; nil: nothing.
func broken(t *testing.T) func(t *testing.T, s *redistest.Server) {
	parts := strings.Split(t.Name(), "/")
	if parts[0] != brokenLedgers || len(parts) < 2 {
		return nil
	}
	return breakages[strings.ReplaceAll(parts[1], "_", " ")]
}

// breakLedger spoils the ledger of a master, if a test is about that.
func breakLedger(t *testing.T, s *redistest.Server) *redistest.Server {
	t.Helper()
	if spoil := broken(t); spoil != nil {
		spoil(t, s)
	}
	return s
}

// enter has all runs entered, if a test is about broken ledgers.
func enter(t *testing.T, q *quorum) {
	if broken(t) == nil {
		return
	}
	open := q.open
	q.open = func(req lock.Request) []master {
		req.History = 50
		return open(req)
	}
}

// ofTheLedger reports whether a key is left because a ledger is broken.
func ofTheLedger(t *testing.T, key string) bool {
	name := key[strings.LastIndex(key, ":")+1:]
	return broken(t) != nil && (name == "job" || name == "runs" || name == "bad" || name == "jobs")
}

// A ledger decides nothing: with a broken one the faults of the lock do what they do without.
func TestABrokenLedgerChangesNoRunOfAQuorum(t *testing.T) {
	ability.Slow(t)
	t.Parallel()
	for name := range breakages {
		t.Run(name, func(t *testing.T) {
			for name, scenario := range map[string]func(*testing.T){
				"TestAFloorAtAMinorityHindersNobody":              TestAFloorAtAMinorityHindersNobody,
				"TestForeignKeysAreLeftAlone":                     TestForeignKeysAreLeftAlone,
				"TestAQuorumRenewsAndReleasesOutOfMemory":         TestAQuorumRenewsAndReleasesOutOfMemory,
				"TestAWrongTypeAtAMajorityIsNotALock":             TestAWrongTypeAtAMajorityIsNotALock,
				"TestAQuorumKeepsTheLockForTheMinHoldAfterTheRun": TestAQuorumKeepsTheLockForTheMinHoldAfterTheRun,
				"TestQuorumIsHeldRenewedAndReleased":              TestQuorumIsHeldRenewedAndReleased,
				"TestQuorumOutlivesFaultsOfAMinority":             TestQuorumOutlivesFaultsOfAMinority,
				"TestSignalEndsAWaitForTheQuorum":                 TestSignalEndsAWaitForTheQuorum,
				"TestTriesOfASlotAreUsedUpAtAQuorum":              TestTriesOfASlotAreUsedUpAtAQuorum,
				"TestADoneSlotIsDoneWhileTheLockIsBusy":           TestADoneSlotIsDoneWhileTheLockIsBusy,
				"TestAMinorityWithoutTheRightsOfASlotIsNoMatter":  TestAMinorityWithoutTheRightsOfASlotIsNoMatter,
			} {
				t.Run(name, scenario)
			}
		})
	}
}

// Each refusal is a line in the log of the ACL: a step writes one at most.
func TestAnOldACLOfAQuorumIsRefusedOnceAStep(t *testing.T) {
	t.Parallel()
	all, store := startUsers(t, lock.MinimalACL)
	runs(t, store, entered(), endedBy(lock.EndOk, 0))
	for i, s := range all {
		var refusals int64
		for _, entry := range locktest.Do(t, s, "ACL", "LOG", 100).([]any) {
			for n, field := range entry.([]any) {
				if field == "count" {
					refusals += entry.([]any)[n+1].(int64)
				}
			}
		}
		if asked := evals(t, s); refusals > asked {
			t.Errorf("server %d has refused %d commands in %d steps", i, refusals, asked)
		}
	}
}

// evals is how many steps a server has made.
func evals(t *testing.T, s *redistest.Server) (n int64) {
	t.Helper()
	_, calls, _ := strings.Cut(locktest.Do(t, s, "INFO", "commandstats").(string), "cmdstat_eval:calls=")
	fmt.Sscanf(calls, "%d", &n)
	return n
}

func TestTheRightsOfSlotsAndLedgerSufficeInAQuorum(t *testing.T) {
	t.Parallel()
	all, store := startUsers(t, lock.MinimalACL+" "+lock.SlotsACL+" "+lock.LedgerACL)
	first, second, third := forSlot(tick), forSlot(tick), forSlot(tick)
	third.Slot.Tries = 3
	dies(t, all, acquireWhole(t, store, first))
	locktest.Must(t, acquireWhole(t, store, second).Release(locktest.Limited(t, locktest.Patience),
		endedBy(lock.EndFailed, 1)))
	locktest.Must(t, acquireWhole(t, store, third).Release(locktest.Limited(t, locktest.Patience),
		endedBy(lock.EndOk, 0)))
	all.mustHave(t, end(first, lock.EndVanished), end(second, lock.EndFailed), end(third, lock.EndOk))
	for i, s := range all {
		if log := locktest.Do(t, s, "ACL", "LOG").([]any); len(log) > 0 {
			t.Errorf("server %d has refused %v", i, log)
		}
	}
}

func TestAMinorityWithoutTheRightsOfASlotIsNoMatter(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	locktest.Do(t, all[0], "ACL", "SETUSER", "default", "-hset")
	req := forSlot(tick)
	runs(t, store, req, endedBy(lock.EndOk, 0))
	mustBeDone(t, store, forSlot(tick), req.Holder.Run)
}

// startUsers is a quorum of durable servers for a user with these rights and no others.
func startUsers(t *testing.T, rights string) (all servers, store lock.Store) {
	t.Helper()
	var urls []string
	for range 3 {
		s := redistest.Start(t, redistest.Options{Users: []string{"job on >pw resetchannels -@all " + rights}})
		all, urls = append(all, s), append(urls, strings.Replace(s.URL(), "redis://", "redis://job:pw@", 1))
	}
	return all, openAll(t, lock.Servers{URLs: urls, Prefix: lock.DefaultPrefix, Durable: true})
}
