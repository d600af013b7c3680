package main

import (
	"os"
	"runtime"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/operator"
)

// operate runs an operator command with the words behind its name.
func (p *program) operate(c *operator.Command, args []string) error {
	runtime.SetDefaultGOMAXPROCS() // an operator command may read and show thousands of jobs
	err := p.perform(c, args)
	if c.Plugin && err != nil {
		return operator.AnswerUnknown(err, p.about)
	}
	return err
}

func (p *program) perform(c *operator.Command, args []string) error {
	help, err := c.Parse(args)
	p.flagValues = c.Said
	switch {
	case err != nil:
		_ = p.openConsole(config.NewSources(p.flagValues.Words(), p.env, time.Now)) // with the settings read so far
		return err
	case help != "":
		return show(help)
	case c.Bare:
		_ = p.openConsole(config.NewSources(nil, p.env, time.Now)) // with the settings read so far
	default:
		if err := p.readStore(); err != nil {
			return err
		}
		defer openPasswordCommand(&p.about.Config)()
	}
	p.exit.status, err = c.Run(p.operation()) // the status of an error overrides it
	return err
}

// readStore reads the settings of the store and of the messages.
func (p *program) readStore() error {
	from, err := p.sources()
	if err == nil {
		p.about.Config, err = from.Operator()
	}
	return err
}

func (p *program) operation() operator.Operation {
	return operator.Operation{
		About: &p.about, Config: &p.about.Config, Console: p.console, Signals: p.signals, Env: p.env, Out: os.Stdout,
	}
}
