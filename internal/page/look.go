package page

import "redlockrun/internal/lock"

// A look is how something is drawn: never by its colour alone.
type look int

const (
	okLook look = iota
	failedLook
	signalLook
	timeoutLook
	lostLook
	stoppedLook
	unstartedLook
	vanishedLook
	unlockedLook
	runningLook
	silentLook
	stuckLook
	startingLook
	pausedLook
	actLook
	otherLook
	overdueLook
)

// looks describe each look: its class on the page (in capitals if it has its letter), the letter,
// and whether the run needs attention.
var looks = [...]struct {
	class, marked, letter, meaning string
	bad                            bool
}{
	okLook:        {"o", "o", "", "ok", false},
	failedLook:    {"f", "F", "F", "failed", true},
	signalLook:    {"s", "S", "S", "signal", true},
	timeoutLook:   {"t", "T", "T", "timeout", true},
	lostLook:      {"l", "L", "L", "lock lost", true},
	stoppedLook:   {"x", "X", "X", "stopped", true},
	unstartedLook: {"u", "U", "U", "unstarted", true},
	vanishedLook:  {"v", "V", "V", "vanished", true},
	unlockedLook:  {"k", "K", "K", "unlocked", true},
	runningLook:   {"r", "r", "", "running", false},
	silentLook:    {"n", "N", "?", "silent", true},
	stuckLook:     {"i", "I", "!", "stuck", true},
	startingLook:  {"h", "h", "", "starting", false},
	pausedLook:    {"p", "p", "", "paused", false},
	actLook:       {"a", "A", "◆", "an operator's act", false},
	otherLook:     {"q", "Q", "Q", "another end", true},
	overdueLook:   {"d", "D", "▲", "overdue from here on", true},
}

// lookOf returns the look of a run that is over, or of an act.
func lookOf(e lock.Entry) look {
	switch {
	case e.Act != "":
		return actLook
	case e.Lost && e.End == lock.EndOk: // it went on without the lock
		return lostLook
	}
	switch e.End {
	case lock.EndOk:
		return okLook
	case lock.EndFailed:
		return failedLook
	case lock.EndSignal:
		return signalLook
	case lock.EndTimeout:
		return timeoutLook
	case lock.EndLost:
		return lostLook
	case lock.EndStopped:
		return stoppedLook
	case lock.EndUnstarted:
		return unstartedLook
	case lock.EndVanished:
		return vanishedLook
	case lock.EndUnlocked:
		return unlockedLook
	}
	return otherLook
}

// lookOfState returns the look of the holder.
func lookOfState(s lock.State) look {
	switch s {
	case lock.StateSilent:
		return silentLook
	case lock.StateStuck:
		return stuckLook
	case lock.StateStarting:
		return startingLook
	}
	return runningLook
}
