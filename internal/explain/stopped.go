package explain

import (
	"strconv"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainStopped is of a run that an operator has stopped while no command ran.
func explainStopped(e *lock.StoppedError, nothingRun string, c About) Explanation {
	message := "an operator has stopped the run of " + strconv.Quote(e.Name) + " (" + c.Where() + ")" + nothingRun
	o := Failure(lock.StatusStopped, message, StoppedHint(e.Name))
	o.level, o.Event = console.Warning, console.EventStopped
	return o
}

// StoppedHint is where the ledger is read.
func StoppedHint(name string) string { return CommandLine("status", name) + " says who, and why" }
