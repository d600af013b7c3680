package runner

import (
	"cmp"
	"context"
	"os"
	"syscall"
	"time"
)

// Run starts the command, forwards signals to it and returns when it has ended
// and been reaped. When ctx ends, the command is stopped; the cause of ctx says why.
//
// The error is a *StartError if the command could not be started, a
// *SignalError if a signal came before, a *NotStartedError if Stop was called
// before or execve took longer than MaxRuntime, the cause of ctx if that had
// ended before. In each case nothing has been run.
func (c *Command) Run(ctx context.Context, signals <-chan os.Signal) (Status, error) {
	defer c.Guard.disarm()
	c.Guard.warnWith(c.warn)
	var p prelude
	if err := c.ready(ctx, signals, &p); err != nil {
		return Status{}, err
	}
	subscribeJobControl()
	orphans.own()
	b := c.begin()
	killed, err := c.attend(ctx, b, signals, &p)
	if err != nil {
		return Status{}, err
	}
	r := &run{Command: c, child: b.child, signals: signals}
	if killed != nil {
		r.stop = p.stop
		return r.conclude(*killed), nil
	}
	defer c.limit()()
	return r.supervise(ctx, &p), nil
}

// ready waits for the guard, and looks a last time whether the command is to be started.
func (c *Command) ready(ctx context.Context, signals <-chan os.Signal, p *prelude) error {
	if err := c.Guard.await(ctx); err != nil {
		return &StartError{Name: c.name(), Code: 71, Err: err}
	}
	p.drain(signals)
	if p.fatal != 0 {
		return &SignalError{Signal: p.fatal}
	}
	if stops := c.stops.take(); len(stops) > 0 {
		return &NotStartedError{stops[0].Reason}
	}
	return context.Cause(ctx)
}

// limit stops the command after MaxRuntime, unless it is lifted before.
func (c *Command) limit() (lift func() bool) {
	if c.MaxRuntime == 0 {
		return func() bool { return false }
	}
	return time.AfterFunc(c.MaxRuntime, func() { c.Stop(&StopError{Reason: ErrMaxRuntime}) }).Stop
}

// A sieve takes the signals that come before the command runs: those that have a
// meaning for it are kept for it. One that would have ended a command ends this run
// if there will be none.
type sieve struct {
	kept  []os.Signal
	fatal syscall.Signal // the first one; 0: none
}

func (s *sieve) take(sig os.Signal) {
	switch meaningOf(sig).alone {
	case ends:
		s.kept = append(s.kept, sig)
		s.fatal = cmp.Or(s.fatal, sig.(syscall.Signal))
	case suspends:
		s.kept = append(s.kept, sig)
	}
}

func (s *sieve) drain(signals <-chan os.Signal) {
	for {
		select {
		case sig := <-signals:
			s.take(sig)
		default:
			return
		}
	}
}

// A run is a command that has been started. One goroutine, the caller of Run,
// owns all of it.
type run struct {
	*Command
	child   *child
	signals <-chan os.Signal
	term    terminal

	stop   *StopError // the first one; nil while it is not being stopped
	killAt time.Time  // boottime; meaningful if stop is not nil
	alarm  *time.Timer

	halted  bool           // the kernel has said that the command is stopped
	asked   syscall.Signal // the stop that this process has forwarded since the command last ran
	refused bool           // a signal could not be sent, and the user knows
}

// supervise begins with what came before the command ran.
func (r *run) supervise(ctx context.Context, p *prelude) Status {
	r.alarm = time.NewTimer(time.Hour)
	r.alarm.Stop()
	defer r.alarm.Stop()
	for _, sig := range p.kept {
		r.forward(sig)
	}
	for _, s := range p.stops {
		r.halt(s)
	}
	over := ctx.Done()
	for {
		select {
		case e := <-r.child.events:
			if e.ended() {
				return r.conclude(e)
			}
			r.changed(e)
		case sig := <-r.signals:
			r.forward(sig)
		case <-over:
			over = nil
			r.halt(stopOf(context.Cause(ctx)))
		case <-r.stops.C():
			for _, s := range r.stops.take() {
				r.halt(s)
			}
		case <-r.alarm.C:
			r.kill()
		}
	}
}

// conclude is called when the command has ended and is not yet reaped, so that
// the number of its group cannot belong to anybody else.
func (r *run) conclude(e event) Status {
	s := Status{Code: e.status}
	if e.code != cldExited {
		s.Signal = syscall.Signal(e.status)
		s.Code = 128 + e.status
	}
	if r.stop != nil {
		s.Stopped = r.stop
		r.clear()
	}
	s.hadTerminal = r.term.reclaim(r.child.pid)
	r.Guard.disarm()
	r.child.reap()
	s.Left = left(r.child.pid)
	return s
}
