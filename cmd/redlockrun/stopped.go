package main

import (
	"strconv"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainStopped is of a run that an operator has stopped while no command ran.
func explainStopped(e *lock.StoppedError, unrun string, c plan) outcome {
	o := failure(statusStopped, "an operator has stopped the run of "+strconv.Quote(e.Name)+" ("+c.where()+")"+unrun, whoStopped(e.Name))
	o.level, o.event = console.Warning, console.EventStopped
	return o
}

// whoStopped is where the ledger is read.
func whoStopped(name string) string { return typed("status", name) + " says who, and why" }
