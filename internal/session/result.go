package session

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// A runResult says how a run that had the lock ended.
type runResult struct {
	status            runner.Status // of the last start; zero if there was none
	err               error         // why the exit status is redlockrun's own; nil if it is the command's
	attempts          int           // how often the command was started
	stoppedByOperator bool          // an operator had the command ended
	stats             watchdog.Stats
	held              time.Duration // by the clock that --min-hold is measured on
}

// exitStatus returns the exit status.
func (r runResult) exitStatus(c *explain.About) int {
	if r.err != nil {
		return explain.Of(r.err, *c).Status
	}
	return r.status.Code
}

// forRecord returns the result for the ledger. It is zero if the command should never start.
func (r runResult) forRecord(c *explain.About) lock.RunResult {
	kind := r.endKind()
	if kind == "" {
		return lock.RunResult{}
	}
	return lock.RunResult{End: kind, Status: r.exitStatus(c), Attempts: r.attempts,
		Lost: kind == lock.EndLost || r.stats.Lost != nil, Stood: r.stats.Stood}
}

func (r runResult) endKind() lock.EndKind {
	switch {
	case r.stoppedByOperator, errors.As(r.err, new(*lock.StoppedError)):
		return lock.EndStopped
	case r.err == nil:
		return endKindOf(r.status)
	case errors.As(r.err, new(*runner.StartError)):
		return lock.EndUnstarted
	case errors.Is(r.err, runner.ErrMaxRuntime):
		return lock.EndTimeout
	case r.attempts == 0:
		return ""
	case errors.As(r.err, new(*watchdog.LostError)):
		return lock.EndLost
	case errors.As(r.err, new(*runner.SignalError)):
		return lock.EndStopped
	}
	return lock.EndFailed // redlockrun itself failed
}

// endKindOf returns the kind of an end that came from the command itself.
func endKindOf(status runner.Status) lock.EndKind {
	switch {
	case wasStopped(status):
		return lock.EndStopped
	case status.Code == 0:
		return lock.EndOk
	case status.Signal != 0:
		return lock.EndSignal
	}
	return lock.EndFailed
}

// stopSignals are the signals by which a terminal or a supervisor ends a program.
var stopSignals = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP}

// wasStopped reports whether a user or supervisor ended the command: by a signal to redlockrun, or
// at the command's terminal. A command that obeys SIGTERM and exits with 0 has hardly done its
// work. It may survive the other signals on purpose (a reload, a cancelled query), so its success
// counts.
func wasStopped(status runner.Status) bool {
	switch sent := status.Forwarded; {
	case sent.Has(syscall.SIGTERM):
		return true
	case status.Code == 0:
		return false
	case sent.Has(stopSignals...) || sent.Has(status.Signal):
		return true
	}
	return status.HadTerminal && (status.Code == 128+int(syscall.SIGINT) ||
		status.Signal == syscall.SIGQUIT || status.Signal == syscall.SIGHUP)
}

// canRestart reports whether the command failed by itself, so that it may start again.
func (r runResult) canRestart() bool {
	switch {
	case r.stoppedByOperator, wasStopped(r.status):
		return false
	case r.err != nil:
		return errors.Is(r.err, runner.ErrMaxRuntime)
	}
	return r.status.Code != 0 && !slices.Contains(stopSignals, r.status.Signal)
}

// coolDown is how long the lock stays held to complete minHold. It applies after a failure, a
// timeout or a signal, too, but not after an error of redlockrun itself, or a loss.
func (r runResult) coolDown(minHold time.Duration) time.Duration {
	if r.attempts == 0 || r.stats.Lost != nil {
		return 0
	}
	if r.err != nil && !errors.Is(r.err, runner.ErrMaxRuntime) && !errors.As(r.err, new(*runner.SignalError)) &&
		!errors.As(r.err, new(*lock.StoppedError)) {
		return 0
	}
	return max(0, minHold-r.held)
}
