package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"

	"github.com/spf13/pflag"
)

// An operatorCommand is about jobs, and runs none. Its name is the very first word.
type operatorCommand struct {
	name   string
	help   string                   // what its --help prints, before the flags that all have
	define func(*pflag.FlagSet) act // its own flags, which have no variables
	status string                   // what its exit statuses mean; "": what they do with all
	plugin bool                     // an error is a line of its result, too, and the status 3
}

// An act is what an operator command does with its operands, once its flags have been parsed.
type act func(o *operation, operands []string) error

// operatorCommands are all of them, in the order of the help.
var operatorCommands = [...]operatorCommand{
	lookAtStatus, lookAtHistory, checkJobs, tellMetrics, writeReport, pauseJobs, resumeJobs, stopRun, unlockJob, forgetJobs,
	seeDoctor,
}

// operatorNamed is the operator command of that name; nil if there is none.
func operatorNamed(name string) *operatorCommand {
	i := slices.IndexFunc(operatorCommands[:], func(c operatorCommand) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &operatorCommands[i]
}

// An operation is one call of an operator command.
type operation struct {
	*plan
	console console.Console
	signals <-chan os.Signal
	env     config.Lookup
	out     *os.File // for results alone
	silent  []string // the masters that have not answered at this look
	verdict int      // the status that tells what was found, of a command whose status does
}

// A call is what stands behind the name of an operator command.
type call struct {
	command  *operatorCommand
	said     saidByFlags
	help     bool // it asks for the help
	do       act
	operands []string
}

// parse understands the words behind the name. What the flags say is returned beside an error, too.
func (c *operatorCommand) parse(args []string) (*call, error) {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	called := &call{command: c, said: define(flags, config.OperatorSettings())}
	flags.BoolVarP(&called.help, "help", "h", false, "print the help")
	called.do = c.define(flags)
	if err := flags.Parse(args); err != nil {
		return called, c.explain(err, flags)
	}
	called.operands = flags.Args()
	return called, nil
}

// run does what is asked, and returns the exit status that tells what was found.
func (c *call) run(o *operation) (status int, err error) {
	exposed, err := atOnce(o.signals, func() ([]string, error) { return exposedPasswords(&o.Config), nil })
	if err != nil {
		return 0, err
	}
	o.warnAll(slices.Concat(o.Warnings, exposed))
	err = c.do(o, c.operands)
	return o.verdict, err
}

// explain says what is wrong with the flags, in words of this command.
func (c *operatorCommand) explain(err error, flags *pflag.FlagSet) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && (unknown.GetSpecifiedName() == "key" || unknown.GetSpecifiedShortnames() == "k") {
		return config.Usagef("there is no flag --key").Hint("the NAME of a job stands alone: redlockrun " + c.name + " NAME")
	}
	return explainFlags(err, flags, "redlockrun "+c.name+" --help lists the flags")
}

// print writes lines of a result.
func (o *operation) print(lines ...string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := o.out.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

// display is where the result goes.
func (o *operation) display() console.Display { return console.DisplayOf(o.out, o.env) }

// note says what is no result but should be known, unless errors alone are wanted.
func (o *operation) note(text string) {
	if o.console.Says(console.Warning) {
		o.console.At(console.Info).Say(console.Message{Level: console.Info, Event: console.EventJobs, Text: text})
	}
}

func (o *operation) warnAll(texts []string) {
	for _, text := range texts {
		o.console.Say(console.Message{Level: console.Warning, Event: console.EventConfig, Text: text})
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
