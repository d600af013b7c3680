package quorum

import (
	"context"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/inspect"
	"redlockrun/internal/lock/link"
)

// An inspector reads what a majority of the masters has.
type inspector struct {
	quorum   *quorum
	masters  []*inspect.Server
	timeout  time.Duration
	onSilent func(*lock.UnavailableError)
}

// OpenInspector returns what reads the jobs of several independent servers. It asks nobody;
// its errors are those of Open.
func OpenInspector(cfg lock.Servers, i lock.Inspection) (lock.Inspector, error) {
	sources, addresses, err := sourcesOf(cfg)
	if err != nil {
		return nil, err
	}
	q, err := newQuorum(addresses, nil, nil)
	if err != nil {
		return nil, err
	}
	i.Complete()
	in := &inspector{quorum: q, timeout: i.Timeout, onSilent: i.OnSilent}
	for _, src := range sources {
		in.masters = append(in.masters, inspect.New(src, cfg.Prefix, i))
	}
	return in, nil
}

// Address names all masters.
func (in *inspector) Address() string { return in.quorum.Address() }

// Names implements lock.Inspector: those that any master lists.
func (in *inspector) Names(ctx context.Context, scan bool) ([]string, error) {
	lists, err := gather(ctx, in, func(ctx context.Context, m *inspect.Server) ([]string,
		error) {
		return m.Names(ctx, scan)
	})
	return union(lists), err
}

// Jobs implements lock.Inspector.
func (in *inspector) Jobs(ctx context.Context, names []string) ([]lock.Job, error) {
	return in.jobs(ctx, names, (*inspect.Server).Jobs)
}

// JobsWithRuns implements lock.Inspector.
func (in *inspector) JobsWithRuns(ctx context.Context, names []string) ([]lock.Job, error) {
	return in.jobs(ctx, names, (*inspect.Server).JobsWithRuns)
}

// jobs reads jobs from all masters in the same way.
func (in *inspector) jobs(ctx context.Context, names []string,
	read func(*inspect.Server, context.Context, []string) ([]lock.Job, error)) ([]lock.Job, error) {
	said, err := gather(ctx, in, func(ctx context.Context, m *inspect.Server) ([]lock.Job,
		error) {
		return read(m, ctx, names)
	})
	if err != nil {
		return nil, err
	}
	jobs := make([]lock.Job, 0, len(names))
	for i := range names {
		var seen []masterView
		for _, s := range said {
			seen = append(seen, masterView{s.address, s.answer[i]})
		}
		jobs = append(jobs, merged(in.quorum.size, seen))
	}
	return jobs, nil
}

// Job implements lock.Inspector.
func (in *inspector) Job(ctx context.Context, name string) (lock.Job, error) {
	said, err := gather(ctx, in, func(ctx context.Context, m *inspect.Server) (lock.Job,
		error) {
		return m.Job(ctx, name)
	})
	if err != nil {
		return lock.Job{}, err
	}
	var seen []masterView
	for _, s := range said {
		seen = append(seen, masterView{s.address, s.answer})
	}
	return merged(in.quorum.size, seen), nil
}

// Runs implements lock.Inspector.
func (in *inspector) Runs(ctx context.Context, name string, bad bool) ([]lock.Entry, error) {
	said, err := gather(ctx, in, func(ctx context.Context, m *inspect.Server) ([]lock.Entry,
		error) {
		return m.Runs(ctx, name, bad)
	})
	var lists [][]lock.Entry
	for _, s := range said {
		lists = append(lists, s.answer)
	}
	return mergedEntries(lock.Majority(in.quorum.size), lists), err
}

// Outputs implements lock.Inspector: those that any master has, one of each run.
func (in *inspector) Outputs(ctx context.Context, names []string, most int) ([]lock.JobOutputs, error) {
	said, err := gather(ctx, in, func(ctx context.Context, m *inspect.Server) ([]lock.JobOutputs, error) {
		return m.Outputs(ctx, names, most)
	})
	if err != nil {
		return nil, err
	}
	all := make([]lock.JobOutputs, 0, len(names))
	for i, name := range names {
		var seen []masterOutputs
		for _, s := range said {
			seen = append(seen, masterOutputs{s.address, s.answer[i]})
		}
		all = append(all, mergedOutputs(name, seen))
	}
	return all, nil
}

// A masterReply is what one master has answered.
type masterReply[R any] struct {
	address string
	answer  R
	err     error
}

// gather asks all masters at once, and returns what those say that have answered: a majority,
// or an error.
func gather[R any](ctx context.Context, in *inspector,
	ask func(context.Context, *inspect.Server) (R, error)) ([]masterReply[R], error) {
	answers := askAll(ctx, in.masters, in.timeout, ask)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sound(in, answers)
}

// askAll asks all masters at once. Once a majority has answered, the others are given a bit
// more time, up to limit.
func askAll[M interface{ Address() string }, R any](ctx context.Context, masters []M, limit time.Duration,
	ask func(context.Context, M) (R, error)) []masterReply[R] {
	asked, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := make([]masterReply[R], len(masters))
	done := make(chan int, len(masters))
	var asking sync.WaitGroup
	for i, m := range masters {
		asking.Go(func() {
			answers[i].address = m.Address()
			answers[i].answer, answers[i].err = ask(asked, m)
			done <- i
		})
	}
	began, answered := time.Now(), 0
	var late <-chan time.Time
	for n := 0; n < len(masters); n++ {
		select {
		case i := <-done:
			if answers[i].err == nil {
				answered++
			}
			if answered == lock.Majority(len(masters)) && late == nil {
				late = time.After(lock.Clamp(patience, 4*time.Since(began), limit))
			}
		case <-late:
			cancel(link.ErrLate)
			late = nil
			n-- // its end is still to come
		}
	}
	asking.Wait()
	return answers
}

// patience is the least time that a slow master is given when a majority has answered.
const patience = 500 * time.Millisecond

// sound are the answers that are some, a majority; each of the other masters is named.
func sound[R any](in *inspector, answers []masterReply[R]) (said []masterReply[R], err error) {
	o := &outage{quorum: in.quorum}
	var silent []*lock.UnavailableError
	for _, a := range answers {
		if a.err == nil {
			said = append(said, a)
			continue
		}
		silent = append(silent, o.addSilent(a.address, a.err))
	}
	if len(said) < lock.Majority(in.quorum.size) {
		return nil, o.unavailable()
	}
	for _, down := range silent {
		if in.onSilent != nil {
			in.onSilent(down)
		}
	}
	return said, nil
}
