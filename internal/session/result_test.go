package session

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// passedOn is the status of a command that ended with code after this process had passed
// sig on to it.
func passedOn(code int, sig syscall.Signal) runner.Status {
	return runner.Status{Code: code, Forwarded: 1 << (sig - 1)}
}

func killedBy(sig syscall.Signal) runner.Status {
	return runner.Status{Code: 128 + int(sig), Signal: sig}
}

func atTerminal(status runner.Status) runner.Status {
	status.HadTerminal = true
	return status
}

func unstarted(code int) error { return &runner.StartError{Code: code, Err: syscall.ENOENT} }

func TestTheEndKindOfACommand(t *testing.T) {
	for _, c := range []struct {
		status runner.Status
		how    lock.EndKind
		repeat bool
	}{
		{runner.Status{}, lock.EndOk, false},
		{runner.Status{Code: 1}, lock.EndFailed, true},
		{runner.Status{Code: 71}, lock.EndFailed, true}, // its own, as all of these
		{runner.Status{Code: 76}, lock.EndFailed, true},
		{runner.Status{Code: 124}, lock.EndFailed, true},
		{runner.Status{Code: 127}, lock.EndFailed, true},
		{runner.Status{Code: 130}, lock.EndFailed, true},
		{runner.Status{Code: 143}, lock.EndFailed, true},
		{killedBy(syscall.SIGKILL), lock.EndSignal, true},
		{killedBy(syscall.SIGSEGV), lock.EndSignal, true},
		{killedBy(syscall.SIGTERM), lock.EndSignal, false}, // nevertheless an order from outside
		{killedBy(syscall.SIGINT), lock.EndSignal, false},
		{killedBy(syscall.SIGQUIT), lock.EndSignal, false},
		{killedBy(syscall.SIGHUP), lock.EndSignal, false},

		{passedOn(0, syscall.SIGTERM), lock.EndStopped, false},
		{passedOn(3, syscall.SIGTERM), lock.EndStopped, false},
		{passedOn(3, syscall.SIGINT), lock.EndStopped, false},
		{passedOn(0, syscall.SIGINT), lock.EndOk, false},
		{passedOn(0, syscall.SIGHUP), lock.EndOk, false},
		{passedOn(0, syscall.SIGUSR1), lock.EndOk, false},
		{passedOn(1, syscall.SIGUSR1), lock.EndFailed, true},
		{runner.Status{Code: 138, Signal: syscall.SIGUSR1, Forwarded: 1 << (syscall.SIGUSR1 - 1)}, lock.EndStopped,
			false},

		{atTerminal(runner.Status{}), lock.EndOk, false},
		{atTerminal(runner.Status{Code: 1}), lock.EndFailed, true},
		{atTerminal(runner.Status{Code: 130}), lock.EndStopped, false},
		{atTerminal(killedBy(syscall.SIGINT)), lock.EndStopped, false},
		{atTerminal(killedBy(syscall.SIGQUIT)), lock.EndStopped, false},
		{atTerminal(killedBy(syscall.SIGHUP)), lock.EndStopped, false},
		{atTerminal(killedBy(syscall.SIGKILL)), lock.EndSignal, true},
	} {
		r := runResult{status: c.status, attempts: 1}
		about := aboutJob()
		want := lock.RunResult{End: c.how, Status: c.status.Code, Attempts: 1}
		if got := r.forRecord(&about); got != want || r.canRestart() != c.repeat {
			t.Errorf("%+v is %+v, may be repeated: %v", c.status, got, r.canRestart())
		}
	}
}

func TestTheRecordedResultOfARun(t *testing.T) {
	gone := &watchdog.LostError{Err: lock.ErrLost}
	sig := &runner.SignalError{Signal: syscall.SIGTERM}
	stop := func(reason error) error { return &runner.StopError{Reason: reason} }
	kept := func(lost *watchdog.LostError) watchdog.Stats { return watchdog.Stats{Lost: lost} }
	failed := runner.Status{Code: 3}
	for what, c := range map[string]struct {
		result runResult
		want   lock.RunResult
		repeat bool
	}{
		"a signal before the start": {runResult{err: sig}, lock.RunResult{}, false},
		"a loss before the start": {runResult{err: &runner.NotStartedError{Reason: gone}, stats: kept(gone)},
			lock.RunResult{}, false},
		"no such command": {runResult{err: unstarted(127)},
			lock.RunResult{End: lock.EndUnstarted, Status: 127}, false},
		"no resources": {runResult{err: unstarted(71)},
			lock.RunResult{End: lock.EndUnstarted, Status: 71}, false},
		"no file in time": {
			runResult{err: &runner.NotStartedError{Reason: runner.ErrMaxRuntime}},
			lock.RunResult{End: lock.EndTimeout, Status: 124}, true},
		"too long": {
			runResult{err: stop(runner.ErrMaxRuntime), attempts: 1},
			lock.RunResult{End: lock.EndTimeout, Status: 124, Attempts: 1}, true},
		"a loss": {
			runResult{err: stop(gone), attempts: 1, stats: kept(gone)},
			lock.RunResult{End: lock.EndLost, Status: 76, Attempts: 1, Lost: true}, false},
		"killed by the guard": {
			runResult{err: &watchdog.LostError{Err: watchdog.ErrLate}, attempts: 1},
			lock.RunResult{End: lock.EndLost, Status: 76, Attempts: 1, Lost: true}, false},
		"a loss, and done all the same": {
			runResult{attempts: 1, stats: kept(gone)}, lock.RunResult{End: lock.EndOk, Attempts: 1, Lost: true}, false},
		"the watchdog failed": {
			runResult{err: stop(errors.New("panic: oh")), attempts: 1},
			lock.RunResult{End: lock.EndFailed, Status: 71, Attempts: 1}, false},
		"a signal in the pause": {
			runResult{err: &explain.NotRestartedError{Reason: sig}, status: failed, attempts: 2},
			lock.RunResult{End: lock.EndStopped, Status: 143, Attempts: 2}, false},
		"a loss in the pause": {
			runResult{err: &explain.NotRestartedError{Reason: stop(gone)}, status: failed, attempts: 1,
				stats: kept(gone)},
			lock.RunResult{End: lock.EndLost, Status: 76, Attempts: 1, Lost: true}, false},
		"gone before the second start": {
			runResult{err: unstarted(126), status: failed, attempts: 1},
			lock.RunResult{End: lock.EndUnstarted, Status: 126, Attempts: 1}, false},
	} {
		about := aboutJob()
		if got := c.result.forRecord(&about); got != c.want || c.result.canRestart() != c.repeat {
			t.Errorf("%s: %+v, may be repeated: %v", what, got, c.result.canRestart())
		}
	}
}

// It is left after a failure of the command, its time included, but not after one
// of redlockrun's own, nor after a loss.
func TestMinHoldIsKeptUnlessRedlockrunFails(t *testing.T) {
	late := &watchdog.LostError{Err: watchdog.ErrLate}
	sig := &runner.SignalError{Signal: syscall.SIGTERM}
	const rest = 4 * time.Second
	for _, c := range []struct {
		starts int
		lost   *watchdog.LostError
		err    error
		want   time.Duration
	}{
		{1, nil, nil, rest},
		{0, nil, unstarted(127), 0},
		{1, nil, unstarted(127), 0},
		{0, nil, sig, 0},
		{1, nil, &explain.NotRestartedError{Reason: sig}, rest},
		{1, nil, &runner.StopError{Reason: runner.ErrMaxRuntime}, rest},
		{0, nil, &runner.NotStartedError{Reason: runner.ErrMaxRuntime}, 0},
		{1, nil, &runner.StopError{Reason: errors.New("panic")}, 0},
		{1, nil, late, 0},
		{1, late, nil, 0},
	} {
		r := runResult{attempts: c.starts, err: c.err, held: time.Second}
		r.stats.Lost = c.lost
		if got := r.coolDown(5 * time.Second); got != c.want {
			t.Errorf("%d starts, %v, %v: %v is left, want %v", c.starts, c.lost, c.err, got, c.want)
		}
	}
}

func TestMessagesOfARunThatIsNotRestarted(t *testing.T) {
	lost := &runner.StopError{Reason: &watchdog.LostError{Err: lock.ErrLost}}
	for err, want := range map[error]string{
		&explain.NotRestartedError{Reason: &runner.SignalError{Signal: syscall.SIGTERM}}: "" +
			"got signal 15 (terminated); " +
			"the command was not started again",
		&explain.NotRestartedError{Reason: lost}: `lock "job" is gone (db:6379, from --redis); ` +
			"the command was not started again",
		&explain.NotRestartedError{Reason: &runner.NotStartedError{Reason: runner.ErrMaxRuntime}}: "" +
			"the command's file was not readable within " +
			"--max-runtime 1m30s; the command was not started again",
	} {
		if got := explain.Of(err, aboutJob()).Message; got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
