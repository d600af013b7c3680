package lock

import "time"

// A Farewell is what goes with the release of a lock. The zero value gives it back at
// once, for a run that never tried to start its command.
type Farewell struct {
	Keep    time.Duration // > 0: the lock is left to expire after so long
	Outcome Outcome
}

// An Outcome is how a run ended. The zero value: nothing was run, and nothing is entered.
type Outcome struct {
	How      How
	Status   int  // the exit status
	Attempts int  // how often the command was started
	Lost     bool // the lock was lost before the end
}

// A How is the kind of a run's end. Only Ok is a success.
type How string

// The ends of runs. Vanished and Unlocked are entered by others than the run itself.
const (
	Ok        How = "ok"
	Failed    How = "failed"    // a status that is not 0
	Signal    How = "signal"    // a signal that was nobody's order
	Timeout   How = "timeout"   // --max-runtime
	Lost      How = "lost"      // stopped because the lock was lost
	Stopped   How = "stopped"   // by an operator, or by a signal to redlockrun
	Unstarted How = "unstarted" // the command could not be started
	Vanished  How = "vanished"  // it died without a word
	Unlocked  How = "unlocked"  // an operator took its lock
)

// Hows are all kinds of ends, in the order in which they are shown.
func Hows() []How {
	return []How{Ok, Failed, Signal, Timeout, Lost, Stopped, Unstarted, Vanished, Unlocked}
}

// An Event is an act of an operator.
type Event string

// The acts that are entered among a job's runs.
const (
	Paused  Event = "pause"
	Resumed Event = "resume"
	Halted  Event = "stop"
	Freed   Event = "unlock"
)
