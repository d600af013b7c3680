package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/report"

	"github.com/spf13/pflag"
)

// An operatorCommand is about jobs, and runs none. Its name is the very first word.
type operatorCommand struct {
	name   string
	help   string                   // what its --help prints, before the flags that all have
	define func(*pflag.FlagSet) act // its own flags, which have no variables
}

// An act is what an operator command does with its operands, once its flags have been parsed.
type act func(o *operation, operands []string) error

// operatorCommands are all of them, in the order of the help.
var operatorCommands = [...]operatorCommand{lookAtStatus, lookAtHistory}

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
}

// operate runs an operator command with what stands behind its name.
func (p *program) operate(c *operatorCommand, args []string) error {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	p.said = define(flags, config.OperatorSettings())
	asked := flags.BoolP("help", "h", false, "print the help")
	do := c.define(flags)
	if err := flags.Parse(args); err != nil {
		_ = p.speak(config.From(p.said.words(), p.env, time.Now)) // as far as it was understood
		return c.explain(err, flags)
	}
	if *asked {
		return show(c.help + operatorHelp)
	}
	from, err := p.sources()
	if err != nil {
		return err
	}
	if p.plan.Config, err = from.Operator(); err != nil {
		return err
	}
	o := &operation{plan: &p.plan, console: p.console, signals: p.signals, env: p.env, out: os.Stdout}
	o.warnAll(slices.Concat(o.Warnings, o.exposed()))
	return do(o, flags.Args())
}

// explain says what is wrong with the flags, in words of this command.
func (c *operatorCommand) explain(err error, flags *pflag.FlagSet) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && (unknown.GetSpecifiedName() == "key" || unknown.GetSpecifiedShortnames() == "k") {
		return config.Usagef("there is no flag --key").Hint("the NAME of a job stands alone: redlockrun " + c.name + " NAME")
	}
	err = explainFlags(err)
	usage, ok := errors.AsType[*config.UsageError](err)
	if !ok {
		return err
	}
	for i, hint := range usage.Hints {
		meant, guess := strings.CutPrefix(strings.TrimSuffix(hint, "?"), "did you mean --")
		if hint == helpHint || guess && flags.Lookup(meant) == nil {
			usage.Hints[i] = "redlockrun " + c.name + " --help lists the flags"
		}
	}
	return err
}

// inspector opens the store to read jobs of these names, and asks nobody yet.
func (o *operation) inspector(names ...string) (lock.Inspector, error) {
	for _, name := range names {
		if err := config.CheckName(name); err != nil {
			return nil, err
		}
	}
	jobs, err := o.open(lock.Inspection{Timeout: o.Timeout, OnSilent: o.hearsNothing})
	if err != nil {
		return nil, err
	}
	o.place = jobs.(interface{ Address() string }).Address()
	return jobs, nil
}

func (o *operation) open(i lock.Inspection) (lock.Inspector, error) {
	switch {
	case o.Address.Local, len(o.Servers.URLs) > 1:
		return nil, config.Usagef("the jobs of this store cannot be read yet")
	}
	return line.OpenInspector(o.Servers, i)
}

func (o *operation) hearsNothing(e *lock.UnavailableError) {
	o.silent = append(o.silent, fmt.Sprintf("no answer from %s: %v", e.Address, e.Err))
}

// What has been seen at one look, and who was silent.
type seen[T any] struct {
	value  T
	silent []string
}

// looking is read with the silent masters of a quorum. Only one look is taken at a time.
func looking[T any](o *operation, read func(context.Context) (T, error)) func(context.Context) (seen[T], error) {
	return func(ctx context.Context) (seen[T], error) {
		o.silent = nil
		value, err := read(ctx)
		return seen[T]{value, o.silent}, err
	}
}

// unread is what could not be read of jobs, and of which, if it is of one.
func unread(jobs []lock.Job) (all []string) {
	of := make(map[string][]string)
	for _, job := range jobs {
		for _, what := range job.Unread {
			if of[what] == nil {
				all = append(all, what)
			}
			of[what] = append(of[what], job.Name)
		}
	}
	for i, what := range all {
		if names := of[what]; len(names) == 1 {
			all[i] = fmt.Sprintf("job %q: %s", names[0], what)
		} else {
			all[i] = fmt.Sprintf("%d jobs: %s", len(names), what)
		}
	}
	return all
}

// objects are entries for programs.
func objects(entries []lock.Entry) (lines []string) {
	for _, e := range entries {
		lines = append(lines, string(console.Object(report.EntryObject(e))))
	}
	return lines
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
