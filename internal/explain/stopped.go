package explain

import (
	"strconv"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainStopped is of a run that an operator has stopped while no command ran.
func explainStopped(e *lock.StoppedError, unrun string, c About) Explanation {
	message := "an operator has stopped the run of " + strconv.Quote(e.Name) + " (" + c.Where() + ")" + unrun
	o := Failure(lock.StatusStopped, message, WhoStopped(e.Name))
	o.level, o.Event = console.Warning, console.EventStopped
	return o
}

// WhoStopped is where the ledger is read.
func WhoStopped(name string) string { return Typed("status", name) + " says who, and why" }
