package main

import (
	"errors"
	"fmt"
	"os"

	"redlockrun/internal/console"
	"redlockrun/internal/explain"
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
	if status > explain.StatusSignal && errors.As(err, &signalled) {
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

// report writes --report-file, once it is known how this program ends. err is why the status
// is its own.
func (p *program) report(err error, reason string) {
	if p.reportFile == "" {
		return
	}
	p.account.Slot = p.about.Config.Slot.Name
	if unwritten := p.account.Save(p.reportFile, p.ending.status, err, reason); unwritten != nil {
		p.console.Say(console.Message{
			Level: console.Warning, Event: console.EventUnreported, Text: fmt.Sprintf("write report file: %v", unwritten),
		})
	}
}
