package line_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// scenarios are the tests that send single steps.
var scenarios = map[string]func(*testing.T){
	"TestARunIsOpenUntilItEnds":                          TestARunIsOpenUntilItEnds,
	"TestTheListsKeepSoManyAndTheBadLonger":              TestTheListsKeepSoManyAndTheBadLonger,
	"TestARunThatDiedIsEnteredByTheNext":                 TestARunThatDiedIsEnteredByTheNext,
	"TestWhoHasNotVanished":                              TestWhoHasNotVanished,
	"TestAHandOverBeginsWithItsConfirmation":             TestAHandOverBeginsWithItsConfirmation,
	"TestWithoutHistoryNothingIsWritten":                 TestWithoutHistoryNothingIsWritten,
	"TestAJobIsListedOnceADay":                           TestAJobIsListedOnceADay,
	"TestAJobThatTheSetOfNamesHasLostIsListedAgain":      TestAJobThatTheSetOfNamesHasLostIsListedAgain,
	"TestTheMeanIsThatOfSuccesses":                       TestTheMeanIsThatOfSuccesses,
	"TestASlotIsClosedBySuccessAlone":                    TestASlotIsClosedBySuccessAlone,
	"TestAnotherSlotIsAnotherMatter":                     TestAnotherSlotIsAnotherMatter,
	"TestTriesAreUsedUp":                                 TestTriesAreUsedUp,
	"TestAClosedSlotDismissesWhileTheLockIsHeld":         TestAClosedSlotDismissesWhileTheLockIsHeld,
	"TestAVanishedRunIsATry":                             TestAVanishedRunIsATry,
	"TestARunThatDidNothingIsNoTry":                      TestARunThatDidNothingIsNoTry,
	"TestALateEndClosesItsOwnSlotAlone":                  TestALateEndClosesItsOwnSlotAlone,
	"TestSixteenSlotsAreKept":                            TestSixteenSlotsAreKept,
	"TestASuccessDismissesItsWaiters":                    TestASuccessDismissesItsWaiters,
	"TestAFailureGivesTheNextItsTurn":                    TestAFailureGivesTheNextItsTurn,
	"TestASlotThatCannotBeKept":                          TestASlotThatCannotBeKept,
	"TestAThousandAreDismissedInSteps":                   TestAThousandAreDismissedInSteps,
	"TestALeaseShorterThanAHandOverIsAnnouncedWithIt":    TestALeaseShorterThanAHandOverIsAnnouncedWithIt,
	"TestAReleaseIntoACoolDownIsRepeatedWithoutMemory":   TestAReleaseIntoACoolDownIsRepeatedWithoutMemory,
	"TestALineOfTwoReleasesGoesOnBehindAFloor":           TestALineOfTwoReleasesGoesOnBehindAFloor,
	"TestARunOfANewerReleaseIsKnownByItsID":              TestARunOfANewerReleaseIsKnownByItsID,
	"TestOlderReleasesObeyAFrozenFloor":                  TestOlderReleasesObeyAFrozenFloor,
	"TestChosenInTheInstantItGivesUpHandsOn":             TestChosenInTheInstantItGivesUpHandsOn,
	"TestConfirmationOfALockThatIsNotOursChangesNothing": TestConfirmationOfALockThatIsNotOursChangesNothing,
	"TestDisconnectedArePassedOverAndMayJoinAgain":       TestDisconnectedArePassedOverAndMayJoinAgain,
	"TestEveryKeyExpiresTheFenceAfterNinetyDays":         TestEveryKeyExpiresTheFenceAfterNinetyDays,
	"TestFloorsOfAFence":                                 TestFloorsOfAFence,
	"TestFlushedDataAreFreeForWhoeverAsks":               TestFlushedDataAreFreeForWhoeverAsks,
	"TestHandOverTellsTheFirstThree":                     TestHandOverTellsTheFirstThree,
	"TestLeaseThatEndsUnderOOMIsSucceeded":               TestLeaseThatEndsUnderOOMIsSucceeded,
	"TestLeavingChangesNothingElse":                      TestLeavingChangesNothingElse,
	"TestLineOfAnotherTypeIsNoLine":                      TestLineOfAnotherTypeIsNoLine,
	"TestListenersToEverythingAreNotCounted":             TestListenersToEverythingAreNotCounted,
	"TestLockIsKeptForAPollingWaiter":                    TestLockIsKeptForAPollingWaiter,
	"TestLookAfterItsOwnerLeft":                          TestLookAfterItsOwnerLeft,
	"TestALateEndLeavesWhoeverHasBegunSince":             TestALateEndLeavesWhoeverHasBegunSince,
	"TestLookSaysPlaceHolderAndListeners":                TestLookSaysPlaceHolderAndListeners,
	"TestMaxWaitersCountsTheConnected":                   TestMaxWaitersCountsTheConnected,
	"TestMaxWaitersWakesNobody":                          TestMaxWaitersWakesNobody,
	"TestTheFirstThreeAreNotifiedOfAMinHold":             TestTheFirstThreeAreNotifiedOfAMinHold,
	"TestNewcomerAfterAGapTakesWhatIsFree":               TestNewcomerAfterAGapTakesWhatIsFree,
	"TestNewcomerDoesNotSlipPast":                        TestNewcomerDoesNotSlipPast,
	"TestOneGapExcusesOnce":                              TestOneGapExcusesOnce,
	"TestOutOfMemory":                                    TestOutOfMemory,
	"TestReleaseHandsOverInOrderAndLeavesTheFenceAlone":  TestReleaseHandsOverInOrderAndLeavesTheFenceAlone,
	"TestReleaseOfAVanishedLockHandsOver":                TestReleaseOfAVanishedLockHandsOver,
	"TestRepeatedReleaseChangesNothing":                  TestRepeatedReleaseChangesNothing,
	"TestSilentArePassedOver":                            TestSilentArePassedOver,
	"TestUnconfirmedHandOverLapsesToTheNextInLine":       TestUnconfirmedHandOverLapsesToTheNextInLine,
	"TestVanishedKeyIsFreeForTheFirstInLine":             TestVanishedKeyIsFreeForTheFirstInLine,
	"TestWhoComesBackFirstLeavesTheLockToTheFirst":       TestWhoComesBackFirstLeavesTheLockToTheFirst,
	"TestWhoCouldNotLookIsNotSilent":                     TestWhoCouldNotLookIsNotSilent,
	"TestWhoDoesNotComeBackAfterAGapIsSilent":            TestWhoDoesNotComeBackAfterAGapIsSilent,
	"TestWhoHasNotLookedForAnHourIsNoMore":               TestWhoHasNotLookedForAnHourIsNoMore,
	"TestWhoIsNotBackYetAfterAGapIsNotPassedOver":        TestWhoIsNotBackYetAfterAGapIsNotPassedOver,
	"TestWhoIsDismissedAfterAGapExcusesTheOthers":        TestWhoIsDismissedAfterAGapExcusesTheOthers,
	"TestWhatIsWrittenInTheLastMomentOfAKeyEnds":         TestWhatIsWrittenInTheLastMomentOfAKeyEnds,
	"TestWhoGetsTheLockAfterAGapExcusesTheOthers":        TestWhoGetsTheLockAfterAGapExcusesTheOthers,
	"TestWhoGetsTheLockHasLooked":                        TestWhoGetsTheLockHasLooked,
	"TestARunThatWasForgottenIsEnteredAgain":             TestARunThatWasForgottenIsEnteredAgain,
	"TestARunThatTookItsLockBackHasNotVanished":          TestARunThatTookItsLockBackHasNotVanished,
	"TestASlotGoesOnWithALockThatWasTakenBack":           TestASlotGoesOnWithALockThatWasTakenBack,
	"TestWhoMovesUpToTheFrontIsToldWhenTheLeaseEnds":     TestWhoMovesUpToTheFrontIsToldWhenTheLeaseEnds,
}

const mixedScenarios = "TestScenariosOfFrozenAndPresentStepsMixed"

// What a run of another release does between two steps of ours changes no outcome.
func TestScenariosOfFrozenAndPresentStepsMixed(t *testing.T) {
	locktest.Advise(t)
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("mixed", scenario) // one level below, since some are parallel themselves
		})
	}
}

// stepsOf are the steps that a test sends: in a mixture now those of one release, now
// those of another.
func stepsOf(t *testing.T) func(step string) string {
	if strings.HasPrefix(t.Name(), mixedScenarios+"/") {
		return locktest.Mixed(t, "line", line.Present)
	}
	return line.Present
}

func TestEveryScenarioIsMixed(t *testing.T) {
	sends := regexp.MustCompile(`\ts := (newSteps|newLine|slotted|remembering)\(t`)
	files, err := filepath.Glob("*_test.go")
	locktest.Must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		locktest.Must(t, err)
		for _, test := range strings.Split(string(text), "\nfunc ")[1:] {
			name := regexp.MustCompile(`^Test\w+`).FindString(test)
			if name != "" && sends.MatchString(test) && scenarios[name] == nil {
				t.Errorf("%s is not among the scenarios", name)
			}
		}
	}
}

// openSteps is a store that sends other steps than this release's.
func openSteps(t *testing.T, url string, text func(step string) string) lock.Store {
	t.Helper()
	s := open(t, url)
	line.Speak(s, text)
	return s
}

// releases are stores of one server: frozen, present, and such as change their steps from
// one to the next.
func releases(t *testing.T, srv *redistest.Server) []lock.Store {
	t.Helper()
	locktest.Advise(t)
	return []lock.Store{
		openSteps(t, srv.URL(), locktest.FrozenStep(t, "line", line.Present)),
		open(t, srv.URL()),
		openSteps(t, srv.URL(), locktest.Mixed(t, "line", line.Present)),
	}
}

func TestReleasesStandInOneLineInOrder(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	stores := releases(t, srv)
	draw := locktest.Draw(t)
	held := locktest.Acquire(t, stores[0], locktest.RequestFor("job"))
	var waiting []<-chan result
	for i := range 30 {
		done, _ := park(t, srv, stores[draw(len(stores))], waits("job", lock.Forever), int64(i+1))
		waiting = append(waiting, done)
	}
	for i, done := range waiting {
		fence := held.Fence()
		release(t, held)
		held = lease(t, done)
		if held.Fence() <= fence {
			t.Errorf("fence %d after %d", held.Fence(), fence)
		}
		for j, later := range waiting[i+1:] {
			if len(later) > 0 {
				t.Fatalf("waiter %d has the lock beside %d", i+1+j, i)
			}
		}
	}
	release(t, held)
	onlyFence(t, srv)
}

func TestReleasesContendForOneLock(t *testing.T) {
	ability.Slow(t)
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	stores := releases(t, srv)
	spare := cutConnections(srv)
	defer spare()
	locktest.Contend(t, 3*time.Second, append(stores, stores...)...)
	spare() // the connection of what follows, too
	// Who died in line, or could not say that it leaves, stands there until somebody looks.
	release(t, locktest.Acquire(t, stores[1], waits("job", lock.Forever)))
	onlyFenceAndMarks(t, srv)
}

// cutConnections cuts all connections to a server now and then, until what it returns is
// called, once or more often. A subscription that lives for less than a second is taken for one that
// does not work, so that it is not more often.
func cutConnections(srv *redistest.Server) (spare func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(3 * time.Second / 2):
				srv.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
				srv.Do("CLIENT", "KILL", "TYPE", "pubsub")
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-ended })
}
