package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/permits"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

const (
	// freshTries is how often to take a lock again that vanished before the command started.
	freshTries = 3

	// outageRepeat is the time between two warnings about one outage.
	outageRepeat = time.Minute
)

// acquire returns a lease that is fresh enough to start the command under, and the id of its run.
// The guard is running then. If the lock vanishes before the command starts, acquire takes it
// again: nothing was done under it.
func (s *session) acquire(store lock.Store) (lease lock.Lease, run string, err error) {
	for range freshTries {
		if lease, run, err = s.acquireOnce(store); !errors.Is(err, lock.ErrLost) {
			return lease, run, err
		}
	}
	return nil, "", s.unavailable(fmt.Errorf("lock %q disappears as soon as redlockrun takes it", s.config.Key))
}

func (s *session) acquireOnce(store lock.Store) (lock.Lease, string, error) {
	req, progress := s.Request(), &waitReporter{s: s}
	req.OnBusy = progress.busy
	s.Report.Run = req.Holder.Run
	lease, err := interrupt.Run(s.signals,
		func(ctx context.Context) (lock.Lease, error) { return store.Acquire(ctx, req) })
	progress.close()
	run := req.Holder.Run
	if p, ok := lease.(permits.Lease); ok && err == nil {
		run = p.Run()
		s.Report.Run, req.Holder.Run = run, run
		if s.config.Address.Local {
			s.guards.startHolding(filesOf(lease))
		}
	}
	if err == nil {
		err = s.guards.startError()
	}
	if err == nil {
		err = s.freshen(lease)
	}
	if err == nil && lease.StopAsked() {
		s.releaseAfterRun(lease, runResult{err: &lock.StoppedError{Name: s.config.Key}})
		return nil, "", &lock.StoppedError{Name: s.config.Key}
	}
	if err == nil {
		s.Console = s.Console.With(explain.RunFields(req.Holder)...)
		return lease, run, nil
	}
	if lease != nil {
		s.releaseUnused(lease)
	}
	return nil, "", err
}

// unavailable wraps err as the error of a store that could not be asked.
func (s *session) unavailable(err error) error {
	return &lock.UnavailableError{Address: s.about.Place, Err: err}
}

func (s *session) Request() lock.Request {
	return lock.Request{
		Name:    s.config.Key,
		Times:   s.config.Times,
		Holder:  s.holder(),
		Wait:    s.config.Wait,
		Slot:    s.config.Slot,
		History: s.config.History,
		MaxAge:  s.config.MaxAge,

		IgnorePause: s.config.IgnorePause,
		Timeout:     s.config.Timeout,
		Enclosing:   s.config.Enclosing,
		OnOutage:    s.sayOutage(),
		OnPolling:   s.sayPolling,
	}
}

func (s *session) holder() lock.Holder {
	return lock.Holder{
		Run:     lock.NewRunID(),
		Host:    lock.HostName(),
		PID:     os.Getpid(),
		User:    lock.UserName(),
		Command: filepath.Base(s.command[0]),
		Start:   time.Now(),
		TTL:     s.config.Times.TTL,
		Every:   s.config.Times.Renew,
		Boot:    boottime.BootID(),
	}
}

// sayOutage warns about an outage during the wait, at once and then once a minute.
func (s *session) sayOutage() func(error) {
	var last time.Time
	return func(err error) {
		if now := boottime.Now(); last.IsZero() || now.Sub(last) >= outageRepeat {
			last = now
			s.Console.Say(console.Message{
				Level: console.Warning, Event: console.EventUnavailable, Err: err,
				Text: fmt.Sprintf("no answer while waiting for lock %q (%s); trying again", s.config.Key,
					s.config.Address.FromSource()),
			})
		}
	}
}

// sayPolling says that the store cannot notify the waiter, which is slower.
func (s *session) sayPolling(err error) {
	s.Console.Say(console.Message{
		Level: console.Debug, Event: console.EventPolling, Err: err,
		Text: fmt.Sprintf("the server cannot notify a waiter for lock %q (%s); "+
			"redlockrun asks about twice a second instead",
			s.config.Key, s.config.Address.FromSource()),
	})
}

// freshen renews a lease that took long to acquire, so that the command starts with a full one.
func (s *session) freshen(lease lock.Lease) error {
	_, err := interrupt.Run(s.signals, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, watchdog.Freshen(ctx, lease, s.watchdog())
	})
	var signalled *runner.SignalError
	if err == nil || errors.Is(err, lock.ErrLost) || errors.As(err, &signalled) ||
		errors.As(err, new(*lock.UnavailableError)) {
		return err
	}
	return s.unavailable(err)
}
