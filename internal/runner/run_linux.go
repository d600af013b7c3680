package runner

import (
	"context"
	"os"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
)

// Run starts the command, forwards signals to it and returns when it has ended and been reaped.
// When ctx ends, the command is stopped; the cause of ctx is the reason.
//
// The error is a *StartError if the command could not be started, and a *SignalError if a signal
// came before. It is a *NotStartedError if Stop was called before, or execve took longer than
// MaxRuntime. It is the cause of ctx if ctx ended before. In each case nothing has run.
func (c *Command) Run(ctx context.Context, signals <-chan os.Signal) (Status, error) {
	defer c.Guard.disarm()
	c.Guard.warnTo(c.warn)
	makeThreads(threads + c.Copied)
	var p pending
	if err := c.awaitGuard(ctx, signals, &p); err != nil {
		return Status{}, err
	}
	subscribeJobControl()
	zombies.stopReaping()
	s := c.spawn()
	killed, err := c.awaitSpawn(ctx, s, signals, &p)
	if err != nil {
		return Status{}, err
	}
	r := &run{Command: c, child: s.child, signals: signals}
	if killed != nil {
		r.stop = p.stop
		return r.finish(*killed), nil
	}
	defer c.limitRuntime()()
	return r.supervise(ctx, &p), nil
}

// awaitGuard waits for the guard, and checks a last time whether the command may start.
func (c *Command) awaitGuard(ctx context.Context, signals <-chan os.Signal, p *pending) error {
	if err := c.Guard.awaitReady(ctx); err != nil {
		return &StartError{Name: c.name(), Code: 71, Err: err}
	}
	p.takeAll(signals)
	p.takeStops(c.stops.take())
	if p.unwanted != nil {
		return p.unwanted
	}
	return context.Cause(ctx)
}

// limitRuntime stops the command after MaxRuntime, unless the returned function is called before.
func (c *Command) limitRuntime() (lift func() bool) {
	if c.MaxRuntime == 0 {
		return func() bool { return false }
	}
	return time.AfterFunc(c.MaxRuntime, func() { c.Stop(&StopError{Reason: ErrMaxRuntime}) }).Stop
}

// A run is a command that has been started. One goroutine, the caller of Run, owns all of it.
type run struct {
	*Command
	child   *child
	signals <-chan os.Signal
	over    <-chan struct{} // closed to end the command; nil once that is known
	term    terminal

	stop   *StopError // the first one; nil while it is not being stopped
	killAt time.Time  // boottime; valid if stop is not nil
	alarm  *time.Timer

	isStopped bool           // the kernel reported it: SIGSTOP and the like
	forwarded syscall.Signal // the stop signal that this process passed on since the command last ran; 0: none
	ordered   Signals        // signals that end a program and were passed on
	warned    bool           // a signal could not be sent, and the user knows

	standing *standing // nil while the command does not stand still
}

// supervise runs until the command has ended. It first handles the events that came before.
func (r *run) supervise(ctx context.Context, p *pending) Status {
	r.alarm = time.NewTimer(time.Hour)
	r.alarm.Stop()
	defer r.alarm.Stop()
	for _, sig := range p.signals {
		r.forward(sig)
	}
	r.terminateAll(p.stops)
	r.obeyAll(p.stands)
	r.over = ctx.Done()
	for {
		select {
		case e := <-r.child.events:
			if e.ended() {
				return r.finish(e)
			}
			r.onChange(e)
		case sig := <-r.signals:
			r.onSignal(sig)
		case <-r.over:
			r.over = nil
			r.terminate(stopOf(context.Cause(ctx)))
		case <-r.stops.C():
			r.terminateAll(r.stops.take())
		case <-r.alarm.C:
			r.kill()
		case <-r.stands.C():
			r.obeyAll(r.stands.take())
		case <-r.looks():
			r.lookAtStanding()
		}
	}
}

// finish is called when the command has ended and is not yet reaped, so that the number of its
// group is still its own.
func (r *run) finish(e event) Status {
	s := Status{Code: e.status}
	if e.code != cldExited {
		s.Signal = syscall.Signal(e.status)
		s.Code = 128 + e.status
	}
	s.Forwarded = r.ordered
	dying := dyingLimit
	if r.stop == nil && r.standing != nil { // the others of its group must not go on
		r.killAt = boottime.Now()
		dying = r.awaitGroup()
	}
	if r.stop != nil {
		s.Stopped = r.stop
		dying = r.awaitGroup()
	}
	s.HadTerminal = r.term.reclaim(r.child.pid)
	r.Guard.disarm()
	reap(r.child.pid)
	s.Left = countLeft(r.child.pid, dying)
	return s
}
