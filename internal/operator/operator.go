// Package operator holds the commands for operators: status, history, pause and the others. Each
// command has a file with its flags, its one question or change, and its words.
package operator

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/flagset"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/store"

	"github.com/spf13/pflag"
)

// An Command is about jobs, and runs none. Its name is the very first word.
type Command struct {
	Name   string
	Help   string                   // what its --help prints, before the flags that all have
	Define func(*pflag.FlagSet) act // its own flags, which have no variables
	status string                   // what its exit statuses mean; "": what they do with all
	Plugin bool                     // an error is a line of its result, too, and the status 3
}

// An act is what an operator command does with its operands, once its flags have been parsed.
type act func(o *Operation, operands []string) error

// Commands are all of them, in the order of the help.
var Commands = [...]Command{
	lookAtStatus, lookAtHistory, checkJobs, tellMetrics, writeReport, pauseJobs, resumeJobs, stopRun, unlockJob, forgetJobs,
	seeDoctor,
}

// Named is the operator command of that name; nil if there is none.
func Named(name string) *Command {
	i := slices.IndexFunc(Commands[:], func(c Command) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &Commands[i]
}

// An Operation is one call of an operator command.
type Operation struct {
	About   *explain.About
	Config  *config.Config
	Console console.Console
	Signals <-chan os.Signal
	Env     config.Lookup
	Out     *os.File // for results alone
	silent  []string // the masters that have not answered at this look
	verdict int      // the status that tells what was found, of a command whose status does
}

// A call is what stands behind the name of an operator command.
type call struct {
	command  *Command
	Said     flagset.Values
	Help     bool // it asks for the help
	do       act
	operands []string
}

// Parse understands the words behind the name. What the flags say is returned beside an error, too.
func (c *Command) Parse(args []string) (*call, error) {
	flags := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	called := &call{command: c, Said: flagset.Define(flags, config.OperatorSettings())}
	flags.BoolVarP(&called.Help, "help", "h", false, "print the help")
	called.do = c.Define(flags)
	if err := flags.Parse(args); err != nil {
		return called, c.explain(err, flags)
	}
	called.operands = flags.Args()
	return called, nil
}

// Run does what is asked, and returns the exit status that tells what was found.
func (c *call) Run(o *Operation) (status int, err error) {
	exposed, err := interrupt.AtOnce(o.Signals, func() ([]string, error) { return store.ExposedPasswords(o.Config), nil })
	if err != nil {
		return 0, err
	}
	o.warnAll(slices.Concat(o.Config.Warnings, exposed))
	err = c.do(o, c.operands)
	return o.verdict, err
}

// explain says what is wrong with the flags, in words of this command.
func (c *Command) explain(err error, flags *pflag.FlagSet) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && (unknown.GetSpecifiedName() == "key" || unknown.GetSpecifiedShortnames() == "k") {
		return config.Usagef("there is no flag --key").Hint("the NAME of a job stands alone: redlockrun " + c.Name + " NAME")
	}
	return flagset.Explain(err, flags, "redlockrun "+c.Name+" --help lists the flags")
}

// print writes lines of a result.
func (o *Operation) print(lines ...string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := o.Out.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

// display is where the result goes.
func (o *Operation) display() console.Display { return console.DisplayOf(o.Out, o.Env) }

// note says what is no result but should be known, unless errors alone are wanted.
func (o *Operation) note(text string) {
	if o.Console.Enabled(console.Warning) {
		o.Console.WithLevel(console.Info).Say(console.Message{Level: console.Info, Event: console.EventJobs, Text: text})
	}
}

func (o *Operation) warnAll(texts []string) {
	for _, text := range texts {
		o.Console.Say(console.Message{Level: console.Warning, Event: console.EventConfig, Text: text})
	}
}

// A span is a flag's duration.
type span time.Duration

func (d *span) Set(word string) error {
	parsed, err := config.ParseDuration(word)
	if err != nil {
		return config.Usagef("%v", err).Hint("a duration is a number of seconds (60, 0.5) or a Go duration (90s, 2m30s)")
	}
	*d = span(parsed)
	return nil
}

func (d *span) String() string { return time.Duration(*d).String() }
func (d *span) Type() string   { return "duration" }
