package main

import (
	"os"

	"redlockrun/internal/runner"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

// run is the whole program but for the way it ends.
func run(args []string) ending {
	signals := runner.Subscribe() // first of all: from here on none is missed
	p := newProgram(os.LookupEnv)
	p.runF = func(c *config) (ending, error) {
		return newSession(c, p.log, signals).run(os.Environ())
	}
	return p.run(args)
}

// A program is one invocation of redlockrun.
type program struct {
	env    lookup
	log    zerolog.Logger
	queue  *stderrQueue
	config config // as far as it has been read
	ending ending

	// runF does the work once the command line is understood; a seam for tests.
	runF func(*config) (ending, error)
}

func newProgram(env lookup) *program {
	p := &program{env: env}
	p.log, p.queue = logging{level: zerolog.WarnLevel}.start()
	return p
}

func (p *program) run(args []string) ending {
	if err := p.execute(args); err != nil {
		p.ending.status = explain(err, p.config).report(p.log)
	}
	p.queue.flush(flushLimit)
	return p.ending
}

// execute parses the flags and runs what they ask for. cobra's own dispatch
// would look for the name of an operator command behind the flags too, where
// it belongs to COMMAND; as there are none it is left out.
func (p *program) execute(args []string) error {
	cmd := p.rootCommand()
	if err := cmd.ParseFlags(args); err != nil {
		return explainFlags(err)
	}
	return cmd.RunE(cmd, cmd.Flags().Args())
}

func (p *program) rootCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "redlockrun", SilenceErrors: true, SilenceUsage: true}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows COMMAND is COMMAND's
	said, own := define(flags), defineOwn(flags)
	cmd.RunE = func(_ *cobra.Command, operands []string) error {
		switch {
		case *own.help:
			return show(help)
		case *own.version:
			return show(version())
		}
		return p.start(flagLevel(said), own.command(flags, operands))
	}
	return cmd
}

// start reads the configuration and hands it on. How to speak is found out
// first, so that what is wrong with the rest can be said that way.
func (p *program) start(flags level, command commandLine) error {
	from, fileErr := gather(flags, p.env)
	speak, err := from.logging()
	p.log, p.queue = speak.start()
	if fileErr != nil {
		return fileErr
	}
	if err != nil {
		return err
	}
	if p.config, err = configure(from, p.env); err != nil {
		return err
	}
	if p.config.command, err = command.argv(); err != nil {
		return err
	}
	p.ending, err = p.runF(&p.config)
	return err
}

// gather puts the levels in their order. The flags are looked at in any case,
// so that --log-format json also holds for a complaint about the file.
func gather(flags level, env lookup) (sources, error) {
	file, err := fileLevel(env)
	return sources{flags, environmentLevel(env), file}, err
}

func show(text string) error {
	_, err := os.Stdout.WriteString(text)
	return err
}
