package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/local"
	"redlockrun/internal/lock/permits"
	"redlockrun/internal/report"
	"redlockrun/internal/store"
)

// inspector opens the store to read the jobs of names, and sends no request yet.
func (o *Operation) inspector(names ...string) (lock.Inspector, error) {
	for _, name := range names {
		if err := config.CheckName(name); err != nil {
			return nil, err
		}
	}
	jobs, err := interrupt.AtOnce(o.Signals, func() (lock.Inspector, error) {
		if o.Config.Address.Local {
			jobs, err := local.OpenInspector(o.Config.Address.Dir)
			if err != nil {
				return nil, err
			}
			return permits.Inspect(jobs), nil
		}
		return store.OpenInspector(o.Config.Servers,
			lock.Inspection{Timeout: o.Config.Timeout, OnSilent: o.hearsNothing})
	})
	if err != nil {
		return nil, err
	}
	o.About.Place = jobs.Address()
	return jobs, nil
}

func (o *Operation) hearsNothing(e *lock.UnavailableError) {
	if text := fmt.Sprintf("no answer from %s: %v", e.Address, e.Err); !slices.Contains(o.silent, text) {
		o.silent = append(o.silent, text)
	}
}

// observed holds the result of one reading, and the masters that did not answer.
type observed[T any] struct {
	value  T
	silent []string
}

// looking calls read and adds the silent masters of a quorum. Only one reading takes place at a
// time.
func looking[T any](o *Operation, read func(context.Context) (T, error)) func(context.Context) (observed[T], error) {
	return func(ctx context.Context) (observed[T], error) {
		o.silent = nil
		value, err := read(ctx)
		return observed[T]{value, o.silent}, err
	}
}

// readNamed reads the jobs of names, each once and in order. Without names it reads all listed
// jobs, and with scan also all locks in the keyspace.
func readNamed(ctx context.Context, jobs lock.Inspector, names []string, scan bool,
	read func(context.Context, []string) ([]lock.Job, error)) (found []lock.Job, err error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) == 0 {
		names, err = jobs.Names(ctx, scan)
	}
	if err != nil || len(names) == 0 {
		return nil, err
	}
	return read(ctx, names)
}

// unread returns what could not be read of jobs, with the name of the job if it has one.
func unread(jobs []lock.Job) (all []string) {
	of := make(map[string][]string)
	for _, job := range jobs {
		for _, what := range job.Unread {
			if of[what] == nil {
				all = append(all, what)
			}
			of[what] = append(of[what], job.Name)
		}
	}
	for i, what := range all {
		if names := of[what]; len(names) == 1 {
			all[i] = fmt.Sprintf("job %q: %s", names[0], what)
		} else {
			all[i] = fmt.Sprintf("%d jobs: %s", len(names), what)
		}
	}
	return all
}

// objects formats entries for programs, with those of the outputs that are theirs.
func objects(entries []lock.Entry, outputs []lock.Output) (lines []string) {
	for _, e := range entries {
		lines = append(lines, string(console.Object(report.OutputObject(e, outputs))))
	}
	return lines
}

// ListedNames returns the names of the jobs that the store lists; none if it does not answer
// within limit.
func ListedNames(o *Operation, limit time.Duration) []string {
	jobs, err := o.inspector()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	read := interrupt.Start(ctx, func(ctx context.Context) ([]string, error) { return jobs.Names(ctx, false) })
	select {
	case names := <-read:
		return slices.DeleteFunc(names.Value, func(name string) bool { return config.CheckName(name) != nil })
	case <-ctx.Done():
		return nil
	}
}
