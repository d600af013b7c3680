package lock

import "time"

// A ReleaseRequest is what goes with the release of a lock. The zero value gives it back at
// once, for a run that never tried to start its command.
type ReleaseRequest struct {
	Keep   time.Duration // > 0: the lock is left to expire after so long
	Result RunResult
}

// A RunResult is how a run ended. The zero value: nothing was run, and nothing is entered.
type RunResult struct {
	End      EndKind
	Status   int  // the exit status
	Attempts int  // how often the command was started
	Lost     bool // the lock was lost before the end
}

// An EndKind is the kind of a run's end. Only EndOk is a success.
type EndKind string

// How runs end. EndVanished and EndUnlocked are recorded by others than the run itself.
const (
	EndOk        EndKind = "ok"
	EndFailed    EndKind = "failed"    // a status that is not 0
	EndSignal    EndKind = "signal"    // a signal that was nobody's order
	EndTimeout   EndKind = "timeout"   // --max-runtime
	EndLost      EndKind = "lost"      // stopped because the lock was lost
	EndStopped   EndKind = "stopped"   // by an operator, or by a signal to redlockrun
	EndUnstarted EndKind = "unstarted" // the command could not be started
	EndVanished  EndKind = "vanished"  // it died without a word
	EndUnlocked  EndKind = "unlocked"  // an operator took its lock
)

// EndKinds are all kinds of ends, in the order in which they are shown.
func EndKinds() []EndKind {
	return []EndKind{EndOk, EndFailed, EndSignal, EndTimeout, EndLost, EndStopped, EndUnstarted, EndVanished, EndUnlocked}
}

// An Act is an act of an operator.
type Act string

// The acts that are entered among a job's runs.
const (
	ActPause  Act = "pause"
	ActResume Act = "resume"
	ActStop   Act = "stop"
	ActUnlock Act = "unlock"
)
