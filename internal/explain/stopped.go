package explain

import (
	"strconv"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainStopped explains a run that an operator stopped while no command ran.
func explainStopped(e *lock.StoppedError, nothingRun string, c About) Explanation {
	message := "an operator stopped the run of " + strconv.Quote(e.Name) + " (" + c.Where() + ")" + nothingRun
	o := Failure(lock.StatusStopped, message, StoppedHint(e.Name))
	o.level, o.Event = console.Warning, console.EventStopped
	return o
}

// StoppedHint says where to find the operator and the reason.
func StoppedHint(name string) string { return CommandLine("status", name) + " shows who and why" }
