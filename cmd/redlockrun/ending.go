package main

import (
	"os"

	"redlockrun/internal/runner"
)

// An ending is how redlockrun ends.
type ending struct {
	status  int
	command runner.Status // zero if none was run
}

// exit ends the process: by SIGINT itself if that ended the command at a
// terminal, else with the status.
func (e ending) exit() {
	e.command.Reraise()
	os.Exit(e.status)
}
