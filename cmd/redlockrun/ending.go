package main

import (
	"errors"
	"os"

	"redlockrun/internal/runner"
)

// An ending is how redlockrun ends.
type ending struct {
	status int
	by     reraiser // nil: no signal can have ended it
}

// A reraiser ends this process by the signal that ended the run, if a shell is to
// see that, or does nothing.
type reraiser interface{ Reraise() }

// endedBy is the ending of a run that err has ended with status.
func endedBy(err error, status int) ending {
	var signalled *runner.SignalError
	if status > statusSignal && errors.As(err, &signalled) {
		return ending{status, signalled}
	}
	return ending{status: status}
}

// exit ends the process: by SIGINT itself if that ended the run at a terminal,
// else with the status.
func (e ending) exit() {
	if e.by != nil {
		e.by.Reraise()
	}
	os.Exit(e.status)
}
