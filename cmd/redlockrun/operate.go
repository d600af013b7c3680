package main

import (
	"os"
	"runtime"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/operator"
)

// operate runs an operator command with what stands behind its name.
func (p *program) operate(c *operator.Command, args []string) error {
	runtime.SetDefaultGOMAXPROCS() // an operator command may read and show thousands of jobs
	err := p.perform(c, args)
	if c.Plugin && err != nil {
		return operator.AnswerUnknown(err, p.about)
	}
	return err
}

func (p *program) perform(c *operator.Command, args []string) error {
	called, err := c.Parse(args)
	p.said = called.Said
	if err != nil {
		_ = p.speak(config.NewSources(p.said.Words(), p.env, time.Now)) // as far as it was understood
		return err
	}
	if called.Help {
		return show(c.Text())
	}
	from, err := p.sources()
	if err != nil {
		return err
	}
	if p.about.Config, err = from.Operator(); err != nil {
		return err
	}
	defer takePasswords(&p.about.Config)()
	p.ending.status, err = called.Run(p.operation()) // the status of an error goes before
	return err
}

func (p *program) operation() *operator.Operation {
	return &operator.Operation{About: &p.about, Config: &p.about.Config, Console: p.console, Signals: p.signals, Env: p.env, Out: os.Stdout}
}
