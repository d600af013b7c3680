package main

import (
	"errors"
	"fmt"
	"os"

	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/runner"
)

// A processExit says how redlockrun exits.
type processExit struct {
	status int
	by     reraiser // nil: no signal can have ended it
}

// A reraiser ends this process by the signal that ended the run, if a shell must see that, or does
// nothing.
type reraiser interface{ Reraise() }

// exitFor returns the exit of a run that ended with err and status.
func exitFor(err error, status int) processExit {
	var signalled *runner.SignalError
	if status > explain.StatusSignal && errors.As(err, &signalled) {
		return processExit{status, signalled}
	}
	return processExit{status: status}
}

// exit ends the process: by SIGINT itself if that ended the run at a terminal, otherwise with the
// status.
func (e processExit) exit() {
	if e.by != nil {
		e.by.Reraise()
	}
	os.Exit(e.status)
}

// report writes --report-file, once the exit of this program is known. err is the reason if the
// status is redlockrun's own.
func (p *program) report(err error, reason string) {
	if p.reportFile == "" {
		return
	}
	p.runReport.Slot = p.about.Config.Slot.Name
	if unwritten := p.runReport.Save(p.reportFile, p.exit.status, err, reason); unwritten != nil {
		p.console.Say(console.Message{
			Level: console.Warning, Event: console.EventUnreported,
			Text: fmt.Sprintf("cannot write the report file: %v", unwritten),
		})
	}
}
