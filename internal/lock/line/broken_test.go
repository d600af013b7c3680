package line_test

import (
	"context"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

const brokenLedgers = "TestFaultsDoNotMeetALedger"

// spoilt are ledgers with which each fault must end as it does without one.
var spoilt = map[string]func(t *testing.T, srv *redistest.Server){
	"of other types": func(t *testing.T, srv *redistest.Server) {
		for _, key := range []string{jobKey + ":job", jobKey + ":runs", jobKey + ":bad", "redlockrun:jobs"} {
			locktest.Do(t, srv, "SET", key, "x")
		}
	},
	"forged": func(t *testing.T, srv *redistest.Server) {
		locktest.Do(t, srv, "HSET", jobKey+":job", "open", garbage[5], "last", garbage[3], "mean", "x", "listed", "y",
			"count:ok", "z")
		locktest.Do(t, srv, "RPUSH", jobKey+":runs", garbage[4])
		locktest.Do(t, srv, "SADD", jobKey+":bad", garbage[1])
	},
}

// faults are tests of what goes wrong with a lock and its line.
var faults = map[string]func(*testing.T){
	"TestLostAcquireRepliesAreNotContention":                  TestLostAcquireRepliesAreNotContention,
	"TestALostReleaseReplyIsARelease":                         TestALostReleaseReplyIsARelease,
	"TestALostRenewReplyIsNotALoss":                           TestALostRenewReplyIsNotALoss,
	"TestALateAcquireLeavesNoLock":                            TestALateAcquireLeavesNoLock,
	"TestALateAcquireAfterTheRunLeavesNoLock":                 TestALateAcquireAfterTheRunLeavesNoLock,
	"TestAcquireGivesUpAHangingServerWithoutResidue":          TestAcquireGivesUpAHangingServerWithoutResidue,
	"TestAnAcquireOnAHangingServerLeavesNoLock":               TestAnAcquireOnAHangingServerLeavesNoLock,
	"TestARestartKeepsTheLockOnlyIfTheServerKeepsItsData":     TestARestartKeepsTheLockOnlyIfTheServerKeepsItsData,
	"TestRetriesAreCountedAndEndBySignal":                     TestRetriesAreCountedAndEndBySignal,
	"TestPlaceIsKeptAcrossAReconnection":                      TestPlaceIsKeptAcrossAReconnection,
	"TestMinHoldIsHonouredInLine":                             TestMinHoldIsHonouredInLine,
	"TestWaitersAreServedInTheOrderInWhichTheyCame":           TestWaitersAreServedInTheOrderInWhichTheyCame,
	"TestSignalEndsTheWaitWithoutResidue":                     TestSignalEndsTheWaitWithoutResidue,
	"TestLimitEndsTheWaitAsBusy":                              TestLimitEndsTheWaitAsBusy,
	"TestPassedOverWhileDisconnectedRejoinsAtTheEndAndSaysSo": TestPassedOverWhileDisconnectedRejoinsAtTheEndAndSaysSo,
}

// A ledger that is somebody else's changes the outcome of no fault.
func TestFaultsDoNotMeetALedger(t *testing.T) {
	ability.Slow(t)
	for kind := range spoilt {
		for name, fault := range faults {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				t.Run("fault", fault) // one level below, since some are parallel themselves
			})
		}
	}
}

// kept is the kind of ledger that a test is repeated with; "" if it is not.
func kept(t *testing.T) string {
	name, found := strings.CutPrefix(t.Name(), brokenLedgers+"/")
	if !found {
		return ""
	}
	kind, _, _ := strings.Cut(name, "/")
	return strings.ReplaceAll(kind, "_", " ")
}

// spoil gives a server the ledger that the test is repeated with.
func spoil(t *testing.T, srv *redistest.Server) {
	t.Helper()
	if kind := kept(t); kind != "" {
		spoilt[kind](t, srv)
	}
}

// ofLedger: a key is no part of a lock.
func ofLedger(key string) bool {
	for _, end := range []string{":job", ":runs", ":bad", ":jobs"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// A mindful store has each of its runs write a ledger.
type mindful struct{ lock.Store }

func (s mindful) Acquire(ctx context.Context, req lock.Request) (lock.Lease, error) {
	req.History = 50
	return s.Store.Acquire(ctx, req)
}
