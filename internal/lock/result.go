package lock

import "time"

// A ReleaseRequest says how to release a lock. The zero value releases at once, for a run that
// never tried to start its command.
type ReleaseRequest struct {
	Keep   time.Duration // > 0: let the lock expire after so long
	Result RunResult

	OutputFollows bool // an [OutputKeeper] is called after it, over the same connections
}

// A RunResult says how a run ended. The zero value means that nothing ran, and nothing is
// recorded.
type RunResult struct {
	End      EndKind
	Status   int  // the exit status
	Attempts int  // how often the command was started
	Lost     bool // the lock was lost before the end

	Stood time.Duration // for how long the command stood still
}

// An EndKind is the kind of a run's end. Only EndOk is a success.
type EndKind string

// How runs end. EndVanished and EndUnlocked are recorded by others than the run itself.
const (
	EndOk        EndKind = "ok"
	EndFailed    EndKind = "failed"    // the status is not 0
	EndSignal    EndKind = "signal"    // a signal that neither redlockrun nor an operator sent
	EndTimeout   EndKind = "timeout"   // --max-runtime
	EndLost      EndKind = "lost"      // stopped because the lock was lost
	EndStopped   EndKind = "stopped"   // by an operator, or by a signal to redlockrun
	EndUnstarted EndKind = "unstarted" // the command could not be started
	EndVanished  EndKind = "vanished"  // the run died without a report
	EndUnlocked  EndKind = "unlocked"  // an operator took its lock
)

// EndKinds lists all kinds, in the order of display.
func EndKinds() []EndKind {
	return []EndKind{EndOk, EndFailed, EndSignal, EndTimeout, EndLost, EndStopped, EndUnstarted, EndVanished,
		EndUnlocked}
}

// An Act is a kind of change by an operator.
type Act string

// The acts that the ledger records among a job's runs.
const (
	ActPause  Act = "pause"
	ActResume Act = "resume"
	ActStop   Act = "stop"
	ActUnlock Act = "unlock"
)
