package main

import (
	"errors"
	"fmt"
	"os"

	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/runner"
)

// A processExit is how redlockrun ends.
type processExit struct {
	status int
	by     reraiser // nil: no signal can have ended it
}

// A reraiser ends this process by the signal that ended the run, if a shell is to
// see that, or does nothing.
type reraiser interface{ Reraise() }

// exitFor is the ending of a run that err has ended with status.
func exitFor(err error, status int) processExit {
	var signalled *runner.SignalError
	if status > explain.StatusSignal && errors.As(err, &signalled) {
		return processExit{status, signalled}
	}
	return processExit{status: status}
}

// exit ends the process: by SIGINT itself if that ended the run at a terminal,
// else with the status.
func (e processExit) exit() {
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
	p.runReport.Slot = p.about.Config.Slot.Name
	if unwritten := p.runReport.Save(p.reportFile, p.exit.status, err, reason); unwritten != nil {
		p.console.Say(console.Message{
			Level: console.Warning, Event: console.EventUnreported,
			Text: fmt.Sprintf("write report file: %v", unwritten),
		})
	}
}
