package inspect

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// A scattered is a reading of jobs of a Cluster: each lives at a node of its own.
type scattered struct {
	*visit
	sets    [][]string // the keys of each
	names   []string
	depth   int
	jobs    []lock.Job
	errs    []error // of each that could not be read yet; nil: nobody has been asked, or it is read
	pending []int
}

// scatter reads jobs, each in one step of its own.
func (v *visit) scatter(ctx context.Context, names []string, depth int) ([]lock.Job, error) {
	s := &scattered{visit: v, names: names, depth: depth, jobs: make([]lock.Job, len(names)), errs: make([]error, len(names))}
	for i, name := range names {
		s.sets, s.pending = append(s.sets, keysOf(v.prefix, []string{name})), append(s.pending, i)
	}
	s.read(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s.result()
}

// read asks until each job is read, cannot be, or the timeout is over.
func (s *scattered) read(ctx context.Context) {
	p := lock.RetryPolicy{Total: s.Timeout, Draw: s.Draw}
	whole, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	deadline, _ := whole.Deadline()
	for try := 0; len(s.pending) > 0; try++ {
		once, end := context.WithTimeout(whole, p.Try(try))
		refused := s.round(once)
		end()
		if len(s.pending) == 0 || refused {
			continue
		}
		if delay := p.Delay(try); time.Until(deadline) <= delay || !lock.Sleep(whole, delay) {
			return
		}
	}
}

// round asks once for all that is pending. refused: a command was, and is not called again.
func (s *scattered) round(ctx context.Context) (refused bool) {
	var sets [][]string
	for _, i := range s.pending {
		sets = append(sets, s.sets[i])
	}
	replies, errs := jobsStep.EvalEach(ctx, s.source.Fresh(ctx), s.Draw, sets, jobsArgs(s.depth, s.barred)...)
	var pending []int
	for n, i := range s.pending {
		_, again := s.barred[replies[n].command]
		switch s.errs[i] = errs[n]; {
		case errs[n] == nil && len(replies[n].jobs) == 1:
			s.jobs[i] = replies[n].jobs[0].job(s.names[i], replies[n].now, s.barred)
		case errs[n] == nil && replies[n].command != "":
			refused = refused || !again
			s.barred[replies[n].command] = refusal(replies[n])
			pending = append(pending, i)
		case errs[n] == nil:
			s.errs[i] = link.Unavailable(s.source.Address(), errStrange)
		case !link.Final(errs[n]):
			pending = append(pending, i)
		}
	}
	s.pending = pending
	return refused
}

// result is what has been read. A node that did not answer hides no job of another.
func (s *scattered) result() ([]lock.Job, error) {
	var silent []*lock.UnavailableError
	said, failed := map[string]bool{}, 0
	for i, err := range s.errs {
		var down *lock.UnavailableError
		if !errors.As(err, &down) {
			continue
		}
		failed++
		s.jobs[i] = lock.Job{Name: s.names[i], Unread: []string{"everything: " + down.Err.Error()}}
		if text := down.Error(); !said[text] {
			said[text] = true
			silent = append(silent, down)
		}
	}
	if failed > 0 && failed == len(s.names) {
		return nil, silent[0]
	}
	for _, down := range silent {
		if s.OnSilent != nil {
			s.OnSilent(down)
		}
	}
	return s.jobs, nil
}
