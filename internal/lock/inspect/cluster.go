package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// A scattered is a reading of jobs of a Cluster: each lives at a node of its own.
type scattered struct {
	*visit
	sets  [][]string // the keys of each
	names []string
	depth int
	jobs  []lock.Job
}

// scatter reads jobs, each in one step of its own.
func (v *visit) scatter(ctx context.Context, names []string, depth int) ([]lock.Job, error) {
	s := &scattered{visit: v, names: names, depth: depth, jobs: make([]lock.Job, len(names))}
	for _, name := range names {
		s.sets = append(s.sets, keysOf(v.prefix, []string{name}))
	}
	errs := v.persistEach(ctx, len(names), s.round)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s.jobs, v.silentNodes(errs, func(i int, why error) {
		s.jobs[i] = lock.Job{Name: names[i], Unread: []string{"everything: " + why.Error()}}
	})
}

// persistEach calls round until each of n jobs is read, cannot be, or the timeout is over. round asks once for the
// pending jobs and notes the error of each. refused means that a command was refused and is not called again.
func (v *visit) persistEach(ctx context.Context, n int,
	round func(ctx context.Context, pending []int, errs []error) (refused bool)) []error {
	p := lock.RetryPolicy{Total: v.Timeout, Draw: v.Draw}
	whole, cancel := context.WithTimeout(ctx, v.Timeout)
	defer cancel()
	deadline, _ := whole.Deadline()
	errs, pending := make([]error, n), make([]int, n)
	for i := range pending {
		pending[i] = i
	}
	for try := 0; len(pending) > 0; try++ {
		once, end := context.WithTimeout(whole, p.Try(try))
		refused := round(once, pending, errs)
		end()
		pending = slices.DeleteFunc(pending, func(i int) bool {
			return !errors.Is(errs[i], errRefused) && (errs[i] == nil || link.Final(errs[i]))
		})
		if len(pending) == 0 || refused {
			continue
		}
		if delay := p.Delay(try); time.Until(deadline) <= delay || !lock.Sleep(whole, delay) {
			break
		}
	}
	return errs
}

// errRefused says that the step must run again, without a command that was refused.
var errRefused = errors.New("a command was refused")

// round asks once for all that is pending.
func (s *scattered) round(ctx context.Context, pending []int, errs []error) (refused bool) {
	replies, failed := jobsStep.EvalEach(ctx, s.source.Fresh(ctx), s.Draw, chosen(s.sets, pending),
		jobsArgs(s.depth, s.barred)...)
	for n, i := range pending {
		_, again := s.barred[replies[n].command]
		switch errs[i] = failed[n]; {
		case errs[i] != nil:
		case len(replies[n].jobs) == 1:
			s.jobs[i] = replies[n].jobs[0].job(s.names[i], replies[n].now, s.barred)
		case replies[n].command != "":
			refused = refused || !again
			s.barred[replies[n].command] = refusal(replies[n])
			errs[i] = errRefused
		default:
			errs[i] = link.Unavailable(s.source.Address(), errStrange)
		}
	}
	return refused
}

func chosen(sets [][]string, pending []int) (some [][]string) {
	for _, i := range pending {
		some = append(some, sets[i])
	}
	return some
}

// silentNodes reports the nodes of a Cluster that did not answer, and calls unread for each job of theirs. It is an
// error only if none of the jobs could be read.
func (v *visit) silentNodes(errs []error, unread func(i int, why error)) error {
	var silent []*lock.UnavailableError
	said, failed := map[string]bool{}, 0
	for i, err := range errs {
		var down *lock.UnavailableError
		if !errors.As(err, &down) {
			continue
		}
		failed++
		unread(i, down.Err)
		if text := down.Error(); !said[text] {
			said[text] = true
			silent = append(silent, down)
		}
	}
	if failed > 0 && failed == len(errs) {
		return silent[0]
	}
	for _, down := range silent {
		if v.OnSilent != nil {
			v.OnSilent(down)
		}
	}
	return nil
}
