package main

import (
	"os"
	"time"

	"redlockrun/internal/config"
)

// operate runs an operator command with what stands behind its name.
func (p *program) operate(c *operatorCommand, args []string) error {
	err := p.perform(c, args)
	if c.plugin && err != nil {
		return answerUnknown(err, p.plan)
	}
	return err
}

func (p *program) perform(c *operatorCommand, args []string) error {
	called, err := c.parse(args)
	p.said = called.said
	if err != nil {
		_ = p.speak(config.From(p.said.words(), p.env, time.Now)) // as far as it was understood
		return err
	}
	if called.help {
		return show(c.text())
	}
	from, err := p.sources()
	if err != nil {
		return err
	}
	if p.plan.Config, err = from.Operator(); err != nil {
		return err
	}
	defer p.plan.takePasswords()()
	p.ending.status, err = called.run(p.operation()) // the status of an error goes before
	return err
}

func (p *program) operation() *operation {
	return &operation{plan: &p.plan, console: p.console, signals: p.signals, env: p.env, out: os.Stdout}
}
