package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
)

// pollInterval is the time between two readings of jobs that should end.
const pollInterval = 500 * time.Millisecond

// awaitIdle waits until none of the jobs runs any more, as still reports, and says so. Jobs that
// still run at the limit are a result of their own.
func (o *Operation) awaitIdle(names []string, limit time.Duration, still func(lock.Job) bool) error {
	if len(names) == 0 || limit == 0 {
		return nil
	}
	jobs, err := o.inspector(names...)
	if err != nil {
		return err
	}
	began := time.Now()
	left, err := interrupt.Run(o.Signals, func(ctx context.Context) ([]lock.Job, error) {
		return o.pollUntilEmpty(ctx, limit, func(ctx context.Context) ([]lock.Job, error) {
			return remaining(ctx, jobs, names, still)
		})
	})
	switch {
	case err != nil:
		return err
	case len(left) > 0:
		return stillRunning(left, limit)
	}
	o.note("all runs have ended, after " + config.Exact(time.Since(began).Round(100*time.Millisecond)))
	return nil
}

func remaining(
	ctx context.Context, store lock.Inspector, names []string, still func(lock.Job) bool,
) (left []lock.Job, err error) {
	jobs, err := store.Jobs(ctx, names)
	for _, job := range jobs {
		if still(job) {
			left = append(left, job)
		}
	}
	return left, err
}

// pollUntilEmpty reads until nothing is left, or for limit. An outage counts only if it is the
// last answer.
func (o *Operation) pollUntilEmpty(
	ctx context.Context, limit time.Duration, look func(context.Context) ([]lock.Job, error),
) ([]lock.Job, error) {
	began, away, said := time.Now(), outageReporter{Operation: o}, false
	for {
		left, err := look(ctx)
		switch over := time.Since(began) >= limit; {
		case err != nil && (over || !errors.As(err, new(*lock.UnavailableError))):
			return nil, err
		case err == nil && (over || len(left) == 0):
			return left, nil
		}
		if away.report(err); err == nil && !said {
			said = true
			o.note("waiting for the end of " + describeRuns(left))
		}
		if !lock.Sleep(ctx, min(pollInterval, max(0, limit-time.Since(began)))) {
			return nil, context.Cause(ctx)
		}
	}
}

// isBusy reports whether a run of a job may be at work, or a foreign value holds its lock.
func isBusy(j lock.Job) bool {
	switch j.State {
	case lock.StateIdle, lock.StatePaused, lock.StateEnded, lock.StateVanished:
		return false
	}
	return true
}

func stillRunning(left []lock.Job, limit time.Duration) error {
	o := explain.Failure(explain.StatusBusy,
		fmt.Sprintf("--wait %s is over, and these runs have not ended: %s",
			config.Exact(limit), describeRuns(left)),
		explain.CommandLine("stop", left[0].Name)+" ends it")
	o.Event = console.EventBusy
	return &unmadeError{Explanation: o}
}

// describeRuns names the runs, by job.
func describeRuns(jobs []lock.Job) string {
	texts := make([]string, len(jobs))
	for i, j := range jobs {
		texts[i] = fmt.Sprintf("%q", j.Name)
		if by := heldBy(lock.ChangeResult{Holder: j.Holder, At: j.At}); by != "" {
			texts[i] += ", " + by
		}
	}
	return strings.Join(texts, "; ")
}
