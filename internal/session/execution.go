package session

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/footprint"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// An execution is the command beside the watchdog, as often as it is started.
type execution struct {
	observer
	lease     lock.Lease
	run       string // its id
	environ   []string
	keeper    *watchdog.Keeper
	canceller *canceller
}

// execute runs the command while the lease is kept. When it returns, no renewal is in flight.
func (s *session) execute(lease lock.Lease, run string, environ []string) (r runResult) {
	x := &execution{observer: observer{s}, lease: lease, run: run, environ: environ, canceller: newCanceller()}
	cfg := s.watchdog()
	cfg.Observer = x
	if s.config.OnLost == config.PauseCommand {
		cfg.Stander = x
	}
	cfg.Cancel = func(err error) { x.canceller.cancelRun(s.stopFor(err)) }
	x.keeper = watchdog.New(lease, cfg)
	x.keeper.Start()
	s.tapOutput()
	defer shrinkIn(time.Second)()
	defer func() { r.stats, r.held = x.keeper.Stop(), lease.Held() }()
	defer s.Output.end()
	return x.untilDone()
}

// shrinkIn gives memory back after a while, so that a command which ends sooner pays nothing for
// it. The returned function waits for that, or cancels it.
func shrinkIn(d time.Duration) (over func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		defer close(done)
		footprint.Shrink() // memory that is in use stays
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// untilDone starts the command until it succeeds, or must not start again.
func (x *execution) untilDone() (r runResult) {
	for n := 1; ; n++ {
		x.attempt(&r, n)
		if n >= x.session.config.Attempts || !r.canRestart() {
			return r
		}
		if !x.canceller.beginPause() {
			if x.session.config.OnLost == config.ContinueCommand {
				x.session.Warn(console.EventLost, "the command is not started again: its lock is lost")
			}
			return r
		}
		if err := x.pause(r, n); err != nil {
			r.err = &explain.NotRestartedError{Reason: err}
			return r
		}
		x.session.guards.next()
	}
}

// attempt starts the command for the n-th time and notes its result in r.
func (x *execution) attempt(r *runResult, n int) {
	command := x.command(n)
	x.session.Output.begin(command)
	x.canceller.setCommand(command)
	status, err := command.Run(context.Background(), x.session.signals)
	if errors.Is(err, runner.ErrLate) {
		err = &runner.NotStartedError{Reason: &watchdog.LostError{Err: watchdog.ErrLate}}
	}
	switch {
	case err == nil:
		r.status, r.attempts, r.err = status, r.attempts+1, x.session.stopped(x.lease, status)
		if errors.As(r.err, new(*lock.StoppedError)) {
			r.err, r.stoppedByOperator = nil, true // the command's own status stands
		}
	case r.attempts > 0 && !errors.As(err, new(*runner.StartError)):
		r.err = &explain.NotRestartedError{Reason: err}
	default:
		r.err = err
	}
}

func (x *execution) command(n int) *runner.Command {
	return &runner.Command{
		Argv: x.session.command, Env: withVariables(x.environ, x.session.variables(x.run, x.lease, n)),
		MaxRuntime: x.session.config.MaxRuntime, StartBy: x.startBy, Grace: x.session.config.Times.Grace,
		Guard: x.session.guards.present, Marker: config.RunIDVar + "=" + x.run,
		Parked: x.keeper.Suspend, Resumed: x.resume,
		Warn: func(err error) { x.session.Warn(console.EventCommand, err.Error()) },
	}
}

// startBy returns when the command would be killed: no command starts later, even with --on-lost
// continue.
func (x *execution) startBy() time.Time {
	until := x.lease.Until()
	if until.IsZero() {
		return until
	}
	return x.session.config.Times.Kill(until)
}

// resume renews a lease after this process was suspended.
func (x *execution) resume() error {
	err := x.keeper.Resume(context.Background())
	if stands, ok := errors.AsType[*watchdog.StandsError](err); ok {
		return &runner.StandsError{Reason: stands.Lost}
	}
	if err != nil {
		return x.session.stopFor(err)
	}
	return nil
}

// Continues says that the lock is lost and the command runs on, if one does.
func (x *execution) Continues(lost *watchdog.LostError) {
	if x.canceller.markLost(lost) {
		x.observer.Continues(lost)
	}
}

// StopAsked ends the run for an operator.
func (x *execution) StopAsked() {
	if x.canceller.cancelRun(&runner.StopError{Reason: &lock.StoppedError{Name: x.session.config.Key}}) {
		x.observer.StopAsked()
	}
}

// Regained says that the lock is held again.
func (x *execution) Regained() {
	x.canceller.markHeld()
	x.observer.Regained()
}
