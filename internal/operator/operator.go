// Package operator holds redlockrun's own commands: status, history, pause and the others for
// operators, completion and copy-self. Each has a file with its texts, its flags, and its one
// question or change.
package operator

import (
	"os"
	"slices"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/store"
)

// An Operation is one call of an operator command.
type Operation struct {
	About      *explain.About
	Config     *config.Config
	Console    console.Console
	Signals    <-chan os.Signal
	Env        config.Lookup
	Out        *os.File // for results alone
	silent     []string // the masters that did not answer this time
	exitStatus int      // the status of the result, for a command whose status tells it
}

// warn reports problems of the configuration before any request.
func (o *Operation) warn() error {
	exposed, err := interrupt.AtOnce(o.Signals,
		func() ([]string, error) { return store.ExposedPasswords(o.Config), nil })
	if err == nil {
		o.warnAll(slices.Concat(o.Config.Warnings, exposed))
	}
	return err
}

// print writes lines of a result.
func (o *Operation) print(lines ...string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := o.Out.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

// display describes where the result goes.
func (o *Operation) display() console.Display { return console.DisplayOf(o.Out, o.Env) }

// note prints useful information beside the result, unless only errors are wanted.
func (o *Operation) note(text string) {
	if o.Console.Enabled(console.Warning) {
		c := o.Console.WithLevel(console.Info)
		c.Say(console.Message{Level: console.Info, Event: console.EventJobs, Text: text})
	}
}

func (o *Operation) warnAll(texts []string) {
	for _, text := range texts {
		o.Console.Say(console.Message{Level: console.Warning, Event: console.EventConfig, Text: text})
	}
}
