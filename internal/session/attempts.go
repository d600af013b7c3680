package session

import (
	"fmt"
	"strconv"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
)

// pause waits after the n-th start, and keeps the lease. The error is the reason why the command
// must not start again.
func (x *execution) pause(r runResult, n int) error {
	p := runner.Pause{
		Length: lock.Backoff{First: x.session.config.AttemptDelay, Most: config.MaxAttemptDelay}.At(n - 1),
		Parked: x.keeper.Suspend, Resumed: x.resume, Doubtful: x.canceller.doubtful,
	}
	x.sayAgain(r, n+1, p.Length)
	return p.Wait(x.canceller.ctx, x.session.signals)
}

// sayAgain says that the command failed, and that its n-th start follows.
func (x *execution) sayAgain(r runResult, n int, pause time.Duration) {
	text := fmt.Sprintf("%s; redlockrun starts it again in %s, attempt %d of %d",
		x.session.failure(r), config.Exact(pause), n, x.session.config.Attempts)
	x.session.Warn(console.EventRetry, text, console.Field{Name: "status", Value: r.exitStatus(x.session.about)},
		console.Field{Name: "attempt", Value: n}, console.Field{Name: "pause_ms", Value: pause.Milliseconds()})
	if left := r.status.Left; left > 0 {
		x.session.Warn(console.EventLeft, leftFromBefore(left), console.Field{Name: "processes", Value: left})
	}
}

func leftFromBefore(processes int) string {
	if processes == 1 {
		return "1 process of the previous attempt is still running"
	}
	return fmt.Sprintf("%d processes of the previous attempt are still running", processes)
}

// failure describes how the last start ended.
func (s *session) failure(r runResult) string {
	switch {
	case r.err != nil:
		return explain.Of(r.err, *s.about).Message
	case r.status.Signal != 0:
		return fmt.Sprintf("the command was ended by signal %d (%v)", int(r.status.Signal), r.status.Signal)
	}
	return "the command ended with status " + strconv.Itoa(r.status.Code)
}
