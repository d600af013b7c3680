package main

import (
	"cmp"
	"errors"
	"os"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
	"redlockrun/internal/runner"
	"redlockrun/internal/session"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flushLimit bounds the time that a slow reader of stderr can cost at the end.
const flushLimit = 100 * time.Millisecond

// run is the whole program except its exit.
func run(args []string) processExit {
	signals := runner.Subscribe() // first of all, so that none is missed
	output := new(session.Output)
	p := newProgram(os.LookupEnv, console.Stderr(func(write func()) {
		output.Between(func() { runner.WithoutTTOU(write) })
	}))
	p.signals, p.output = signals, output
	p.runCommand = func(a *explain.About, argv []string) (runner.Status, error) {
		s := session.New(a, argv, p.console, signals)
		s.Report, s.Output = p.runReport, output
		defer func() { p.console, p.runReport = s.Console, s.Report }() // they know the lock
		return s.Run(os.Environ())
	}
	return p.run(args)
}

// A program is one invocation of redlockrun.
type program struct {
	env        config.Lookup
	write      func([]byte) // to stderr
	signals    <-chan os.Signal
	console    console.Console
	flagValues flagset.Values
	typedJob   string        // the operand of a command line that is completed
	about      explain.About // with the settings read so far
	exit       processExit

	reportFile string         // "": nowhere
	runReport  session.Report // its content

	output *session.Output // of the command

	// runCommand does the work once the command line is understood; a seam for tests.
	runCommand func(a *explain.About, argv []string) (runner.Status, error)
}

func newProgram(env config.Lookup, write func([]byte)) *program {
	p := &program{env: env, write: write, output: new(session.Output)}
	p.console = console.New(console.Warning, false, p.write)
	return p
}

func (p *program) run(args []string) processExit {
	err := p.execute(args)
	o := explain.Of(err, p.about)
	if err != nil {
		p.exit = exitFor(err, o.Report(p.console))
	}
	p.report(err, o.Message)
	p.output.Flush(p.signals)
	p.console.Flush(flushLimit)
	return p.exit
}

// execute parses the flags and runs the requested work. It does not use cobra's own dispatch,
// which would look for the name of an operator command behind the flags too, where it belongs to
// COMMAND.
func (p *program) execute(args []string) error {
	if len(args) > 0 {
		if do := p.subcommand(args[0]); do != nil {
			return do(args[1:])
		}
	}
	cmd := p.rootCommand()
	if err := cmd.ParseFlags(args); errors.Is(err, pflag.ErrHelp) {
		return show(briefHelp())
	} else if err != nil {
		_ = p.openConsole(config.NewSources(p.flagValues.Words(), p.env, time.Now)) // with the settings read so far
		return flagset.Explain(err, cmd.Flags(), helpHint)
	}
	return cmd.RunE(cmd, cmd.Flags().Args())
}

// Internal commands.
const (
	helpCommand     = "help"
	completeCommand = "__complete" // the completion scripts call it
)

// subcommand returns what the very first word asks for; nil if that is a flag or COMMAND.
func (p *program) subcommand(word string) func([]string) error {
	switch word {
	case helpCommand:
		return showHelp
	case completeCommand:
		return p.complete
	}
	if c := operator.Named(word); c != nil {
		return func(args []string) error { return p.operate(c, args) }
	}
	return nil
}

func (p *program) rootCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "redlockrun", SilenceErrors: true, SilenceUsage: true}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the words behind COMMAND belong to COMMAND
	p.flagValues = flagset.Define(flags, config.Settings())
	own := defineOwn(flags)
	cmd.RunE = func(_ *cobra.Command, operands []string) error {
		switch {
		case own.help:
			return show(help())
		case own.version:
			return show(version())
		}
		return p.start(own.command(flags, operands))
	}
	return cmd
}

// sources returns the sources of the configuration. It reads the settings of the messages first,
// so that errors in the rest appear in that form: --log-format json also holds for an error in the
// file. The result is never nil.
func (p *program) sources() (*config.Sources, error) {
	from := config.NewSources(p.flagValues.Words(), p.env, time.Now)
	fileErr := from.ReadFile()
	return from, cmp.Or(fileErr, p.openConsole(from))
}

// start reads the configuration of a run and starts it.
func (p *program) start(command commandLine) error {
	from, err := p.sources()
	p.reportFile, p.runReport.Key = from.EffectiveValue("report-file"), from.EffectiveValue("key")
	if err != nil {
		return err
	}
	argv, argvErr := command.argv()
	if err := p.explainMissingKey(from, argv); err != nil {
		return err
	}
	if p.about.Config, err = from.Config(argv); err != nil {
		return err
	}
	if argvErr != nil {
		return argvErr
	}
	p.runReport.Key = p.about.Config.Key // it may be made of the command
	defer openPasswordCommand(&p.about.Config)()
	status, err := p.runCommand(&p.about, argv)
	p.exit = processExit{status: status.Code, by: status}
	return err
}

// openConsole makes the console that the settings ask for, the default one if they are wrong.
func (p *program) openConsole(from *config.Sources) error {
	m, err := from.Messages()
	p.console = console.New(console.LevelOf(m.Level), m.JSON, p.write)
	return err
}

func show(text string) error {
	_, err := os.Stdout.WriteString(text)
	return err
}
