package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// A keeper keeps the lease while the command runs: one watchdog after another,
// as the command is suspended and continued. start, stop and resume are called
// from one goroutine; the fields may be read when it has stopped.
type keeper struct {
	*session
	lease lock.Lease
	guard *runner.Guard

	halt   func(*runner.StopError) // stops the command
	cancel context.CancelFunc      // stops the watchdog
	done   chan struct{}           // closed when it has returned

	stats watchdog.Stats
	lost  *watchdog.LostError // nil as long as the lease is ours
}

func newKeeper(s *session, lease lock.Lease, guard *runner.Guard) *keeper {
	return &keeper{session: s, lease: lease, guard: guard, stats: watchdog.Stats{Closest: math.MaxInt64}}
}

// start begins with a lease that has just been acquired.
func (k *keeper) start(halt func(*runner.StopError)) {
	k.halt = halt
	k.goOn()
}

// goOn starts a watchdog on the lease as it is.
func (k *keeper) goOn() {
	k.tellGuard(k.lease.Until())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	k.cancel, k.done = cancel, done
	go func() {
		defer close(done)
		defer k.recover()
		k.keep(ctx)
	}()
}

// stop ends the watchdog and waits for it; after that no renewal is under way.
func (k *keeper) stop() {
	k.cancel()
	<-k.done
}

// recover makes a panic of the watchdog the end of the command, in order.
func (k *keeper) recover() {
	if r := recover(); r != nil {
		k.halt(&runner.StopError{Reason: fmt.Errorf("keep lock %q: panic: %v", k.Key, r)})
	}
}

// keep runs the watchdog until ctx ends or the lease is lost. With
// --on-lost=continue it goes on to ask for a lease that is not lost for good.
func (k *keeper) keep(ctx context.Context) {
	for {
		lost := k.watch(ctx)
		if lost == nil {
			return
		}
		k.lose(lost)
		if k.OnLost == config.StopCommand || !k.regain(ctx) {
			return
		}
	}
}

func (k *keeper) watch(ctx context.Context) *watchdog.LostError {
	var stats watchdog.Stats
	err := watchdog.Run(ctx, k.lease, k.lease.Until(), watchdog.Config{
		Times:   k.Times,
		Lease:   "lock " + strconv.Quote(k.Key) + " (" + k.where() + ")",
		Renewed: k.tellGuard, Stats: &stats,
	}, k.log)
	k.stats.Renewed += stats.Renewed
	k.stats.Failed += stats.Failed
	k.stats.Closest = min(k.stats.Closest, stats.Closest, boottime.Until(k.Times.Term(k.lease.Until())))
	var lost *watchdog.LostError
	errors.As(err, &lost)
	return lost
}

// tellGuard moves the guard's deadline to half a margin before the end of the
// lease: there it acts only if this process does not.
func (k *keeper) tellGuard(until time.Time) {
	if k.guard != nil && k.OnLost == config.StopCommand {
		k.guard.Extend(k.Times.GuardKill(until))
	}
}

// lose stops the command, or says that it runs on.
func (k *keeper) lose(lost *watchdog.LostError) {
	k.lost = lost
	if k.OnLost == config.ContinueCommand {
		k.log.Warn().Str(console.EventField, console.EventLost).Strs(console.HintField, some(lostHint(lost, *k.plan))).Msg(explainLost(lost, *k.plan) + "; the command runs on without it")
		return
	}
	k.halt(stopFor(lost))
}

func stopFor(lost *watchdog.LostError) *runner.StopError {
	return &runner.StopError{Reason: lost, KillBy: lost.Kill}
}

// regain asks for a lease that got no answer in time until it is ours again,
// which nobody else had meanwhile then, or lost for good.
func (k *keeper) regain(ctx context.Context) bool {
	for !errors.Is(k.lost, lock.ErrLost) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(k.Times.Renew):
		}
		limited, cancel := context.WithTimeout(ctx, k.Times.Try)
		_, err := k.lease.Renew(limited)
		cancel()
		if err == nil {
			k.lost = nil
			k.log.Warn().Str(console.EventField, console.EventRegained).Msgf("lock %q is held again, and was all the time", k.Key)
			return true
		}
		if errors.Is(err, lock.ErrLost) {
			k.lose(&watchdog.LostError{Err: err})
		}
	}
	return false
}

// resume is called when the command is to go on after Ctrl-Z. Meanwhile the
// lease may have lapsed, so that it is renewed first.
func (k *keeper) resume() error {
	if k.lost == nil {
		k.check()
	}
	if k.lost != nil && k.OnLost == config.StopCommand {
		return stopFor(k.lost)
	}
	k.goOn()
	return nil
}

func (k *keeper) check() {
	err := k.renew(context.Background(), k.lease, boottime.Now().Add(k.Timeout))
	if err == nil {
		return
	}
	kill := boottime.Now().Add(min(k.Times.Grace, time.Second))
	if end := k.Times.Kill(k.lease.Until()); end.Before(kill) {
		kill = end // mostly long past: it does not run beside its successor for an instant
	}
	k.lost = &watchdog.LostError{Err: err, Kill: kill}
	if k.OnLost == config.ContinueCommand {
		k.lose(k.lost)
	}
}

// guardMayHaveKilled reports that the command ended by SIGKILL, that nobody
// here sent it, and that the guard's deadline has passed: this process stood
// still for so long.
func (k *keeper) guardMayHaveKilled(status runner.Status) bool {
	return k.guard != nil && k.OnLost == config.StopCommand && status.Signal == syscall.SIGKILL &&
		boottime.Until(k.Times.GuardKill(k.lease.Until())) <= 0
}
