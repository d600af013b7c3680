package quorum

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
)

// scenarios are tests that send steps to real servers.
var scenarios = map[string]func(*testing.T){
	"TestAFloorAtAMinorityHindersNobody":                  TestAFloorAtAMinorityHindersNobody,
	"TestAMajorityOfNewerReleasesIsBusyAndMayBeWaitedFor": TestAMajorityOfNewerReleasesIsBusyAndMayBeWaitedFor,
	"TestAReleaseIntoACoolDownIsRepeatedAtAFullMaster":    TestAReleaseIntoACoolDownIsRepeatedAtAFullMaster,
	"TestAnyMastersMarkStopsARun":                         TestAnyMastersMarkStopsARun,
	"TestAPauseAtAMinorityHindersNobody":                  TestAPauseAtAMinorityHindersNobody,
	"TestAStoppedRunsMinHoldAtAQuorum":                    TestAStoppedRunsMinHoldAtAQuorum,
	"TestARunThatIgnoresPausesOfAQuorum":                  TestARunThatIgnoresPausesOfAQuorum,
	"TestFloorsOfAMastersFence":                           TestFloorsOfAMastersFence,
	"TestForeignKeysAreLeftAlone":                         TestForeignKeysAreLeftAlone,
	"TestRepairAndBumpLeaveAFloorAlone":                   TestRepairAndBumpLeaveAFloorAlone,
	"TestAQuorumRenewsAndReleasesOutOfMemory":             TestAQuorumRenewsAndReleasesOutOfMemory,
	"TestAQuorumKeepsTheLockForTheMinHoldAfterTheRun":     TestAQuorumKeepsTheLockForTheMinHoldAfterTheRun,
	"TestALateUndoLeavesALaterRoundAlone":                 TestALateUndoLeavesALaterRoundAlone,
	"TestALateOrderIsOlder":                               TestALateOrderIsOlder,
	"TestARenewalComparesTheWholeTerm":                    TestARenewalComparesTheWholeTerm,
	"TestAFenceIsBumpedForItsTermAlone":                   TestAFenceIsBumpedForItsTermAlone,
	"TestQuorumIsHeldRenewedAndReleased":                  TestQuorumIsHeldRenewedAndReleased,
}

const mixedScenarios = "TestScenariosOfFrozenAndPresentStepsMixed"

// What a run of another release does between two steps of ours changes no outcome.
func TestScenariosOfFrozenAndPresentStepsMixed(t *testing.T) {
	t.Parallel()
	locktest.Advise(t)
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Run("mixed", scenario) // one level below, since some are parallel themselves
		})
	}
}

// stepsOf are the steps that a test sends: in a mixture now those of one release, now
// those of another.
func stepsOf(t *testing.T) steps {
	if strings.HasPrefix(t.Name(), mixedScenarios+"/") {
		return withTexts(locktest.Mixed(t, "quorum", presentText))
	}
	return present
}

// presentText is a step of this release, as it is sent; "" if there is none of that name.
func presentText(step string) string {
	switch step {
	case "grant":
		return present.grant.Text()
	case "bump":
		return present.bump.Text()
	case "renew":
		return present.renew.Text()
	case "repair":
		return present.repair.Text()
	case "release":
		return present.release.Text()
	}
	return ""
}

// withTexts are steps for which text is asked each time that one is sent.
func withTexts(text func(step string) string) steps {
	s := present
	s.grant.Text = func() string { return text("grant") }
	s.bump.Text = func() string { return text("bump") }
	s.renew.Text = func() string { return text("renew") }
	s.repair.Text = func() string { return text("repair") }
	s.release.Text = func() string { return text("release") }
	return s
}

// speak has a store send other steps.
func speak(s lock.Store, as steps) {
	q := s.(*quorum)
	open := q.open
	q.open = func(req lock.Request) []master {
		masters := open(req)
		for _, m := range masters {
			m.(*redisMaster).steps = as
		}
		return masters
	}
}

// openSteps is the quorum of durable servers as another release sees it.
func (all servers) openSteps(t *testing.T, as steps) lock.Store {
	t.Helper()
	s := openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true})
	speak(s, as)
	return s
}

func TestReleasesContendForOneQuorum(t *testing.T) {
	ability.Slow(t)
	t.Parallel()
	locktest.Advise(t)
	all, store := startDurable(t, 3)
	stores := []lock.Store{
		all.openSteps(t, withTexts(locktest.FrozenStep(t, "quorum", presentText))),
		store,
		all.openSteps(t, withTexts(locktest.Mixed(t, "quorum", presentText))),
	}
	locktest.Contend(t, 3*time.Second, append(stores, stores...)...)
	all.mustBeClean(t)
}
