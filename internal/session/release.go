package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
)

// releaseAfterRun releases the lease, or lets it expire after the rest of --min-hold, and records
// how the run ended, also after a loss. It leaves alone a lock that belongs to another run by now.
func (s *session) releaseAfterRun(lease lock.Lease, r runResult) {
	end := lock.ReleaseRequest{Keep: r.coolDown(s.config.MinHold), Result: r.forRecord(s.about)}
	end.OutputFollows = s.keepsOutput(end.Result.End)
	s.Report.ended(lease, end.Result)
	err := s.release(lease, end)
	vanished, lost := errors.Is(err, lock.ErrLost), r.stats.Lost != nil
	if end.OutputFollows && (err == nil || vanished) { // it was answered
		s.keepOutput(lease, end.Result)
	}
	if s.config.History > 0 || s.config.Slot.Name != "" {
		s.Report.released(err == nil || vanished)
	}
	switch {
	case err == nil, vanished && lost:
	case vanished:
		s.Warn(console.EventUnreleased,
			fmt.Sprintf("lock %q was already lost when redlockrun released it (%s)", s.config.Key, s.about.Where()))
	case s.config.Slot.Name != "" && end.Result.End == lock.EndOk:
		s.Warn(console.EventUnrecorded, s.unrecorded(err), console.Field{Name: "slot", Value: s.config.Slot.Name})
	case !lost:
		s.Warn(console.EventUnreleased, s.unreleased(lease, err))
	}
}

func (s *session) unrecorded(err error) string {
	return fmt.Sprintf("slot %q of %q is done, but not recorded: it may run again: %v (%s)",
		s.config.Slot.Name, s.config.Key, err, s.about.Where())
}

func (s *session) unreleased(lease lock.Lease, err error) string {
	left := max(0, boottime.Until(lease.Until())).Round(time.Second)
	return fmt.Sprintf("cannot release lock %q: %v; it expires in %s (%s)",
		s.config.Key, err, config.Exact(left), s.about.Where())
}

// releaseUnused releases a lock under which nothing ran.
func (s *session) releaseUnused(lease lock.Lease) {
	if err := s.release(lease, lock.ReleaseRequest{}); err != nil {
		s.Console.Say(console.Message{Level: console.Debug, Event: console.EventUnreleased,
			Text: s.unreleased(lease, err)})
	}
}

// release tries to release the lease for lock.ReleaseLimit. For a slot it tries until the end of
// the lease, as no other run can begin the slot before.
func (s *session) release(lease lock.Lease, end lock.ReleaseRequest) error {
	limit := lock.ReleaseLimit
	insist := s.config.Slot.Name != "" && end.Result != lock.RunResult{}
	if insist {
		limit = max(limit, boottime.Until(lease.Until()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if !insist {
		return lease.Release(ctx, end)
	}
	return untilSignalled(ctx, s.signals, func(ctx context.Context) error { return lease.Release(ctx, end) })
}

// untilSignalled calls do until a signal tells this process to end. do then has lock.GiveUpLimit,
// and the error is that signal. Other signals do nothing.
func untilSignalled(ctx context.Context, signals <-chan os.Signal, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	var signalled error
	for {
		select {
		case err := <-done:
			if err != nil && signalled != nil && !errors.Is(err, lock.ErrLost) {
				return signalled
			}
			return err
		case sig := <-signals:
			if sig, ok := sig.(syscall.Signal); ok && signalled == nil && slices.Contains(stopSignals, sig) {
				signalled = runner.Interrupted(sig)
				defer time.AfterFunc(lock.GiveUpLimit, cancel).Stop()
			}
		}
	}
}
