package permits

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"redlockrun/internal/lock"
)

// An Operator changes jobs of any store, whether they have permits or not. It implements lock.Operator.
type Operator struct {
	store lock.Operator
	jobs  *Inspector
	list  sync.Once
}

// Operate returns what changes jobs, and reads them from the same store. It asks nobody yet.
func Operate(store lock.Operator, jobs lock.Inspector) *Operator {
	return &Operator{store: store, jobs: Inspect(jobs)}
}

// Change implements lock.Operator.
//
// A pause keeps the gate closed. A stop or an unlock needs the id of a run if several runs have permits; else the
// error is a *lock.RefusedError with lock.SeveralRuns. Forget removes what is known of the gate and of each permit.
func (o *Operator) Change(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	o.list.Do(func() { _, _ = o.jobs.Names(ctx, false) }) // without it, each name may have all permits
	t, err := o.target(ctx, name)
	if err != nil {
		return lock.ChangeResult{}, err
	}
	result, err := t.change(ctx, c)
	var refused *lock.RefusedError
	if errors.As(err, &refused) {
		refused.Name, refused.Holders = name, t.job.Holders
	}
	result.Holders = t.job.Holders
	return result, err
}

// A target is a job that is to be changed, as it was just before.
type target struct {
	store lock.Operator
	name  string
	whole lock.Job   // the lock without permits
	parts []lock.Job // the gate and the permits of which something is known
	job   lock.Job   // all of them together

	alone  bool     // the job is known to have no permits; nothing was read
	listed []string // the parts that may stand in the set of names
}

func (o *Operator) target(ctx context.Context, name string) (*target, error) {
	locks := append([]string{name}, o.jobs.partsOf(name)...)
	if len(locks) == 1 {
		return &target{store: o.store, name: name, alone: true}, nil
	}
	jobs, err := o.jobs.Inspector.Jobs(ctx, locks)
	if err != nil {
		return nil, err
	}
	t := &target{store: o.store, name: name, whole: jobs[0], listed: locks[1:]}
	for _, part := range jobs[1:] {
		if !unused(part) {
			t.parts = append(t.parts, part)
		}
	}
	t.job = merged(t.whole, t.parts)
	return t, nil
}

func (t *target) change(ctx context.Context, c lock.Change) (lock.ChangeResult, error) {
	switch {
	case c.Act == lock.ActPause, c.Act == lock.ActResume:
		return t.each(ctx, t.startedBehind(), c)
	case c.Act == lock.ActForget:
		return t.forget(ctx, c)
	case len(t.parts) == 0:
		return t.store.Change(ctx, t.name, c)
	case c.Act == lock.ActStop:
		return t.stop(ctx, c)
	}
	return t.unlock(ctx, c)
}

// startedBehind returns the locks behind which runs of the job start. It is not known whether a job that has never run
// has permits.
func (t *target) startedBehind() []string {
	gate, known := lock.GateOf(t.name), t.alone || !unused(t.whole)
	switch {
	case len(t.parts) > 0 && !known:
		return []string{gate}
	case len(t.parts) == 0 && known:
		return []string{t.name}
	}
	return []string{t.name, gate}
}

// each makes one change to several locks. The result tells what came of all of them.
func (t *target) each(ctx context.Context, locks []string, c lock.Change) (all lock.ChangeResult, err error) {
	for n, lockName := range locks {
		result, err := t.store.Change(ctx, lockName, c)
		if err != nil {
			return all, err
		}
		if n == 0 || result.Done && !all.Done {
			result, all = all, result
		}
		all.Ran = all.Ran || result.Ran
		all.Unconfirmed = all.Unconfirmed || result.Unconfirmed
		all.Absent = appendNew(all.Absent, result.Absent)
	}
	all.Ran = all.Ran || t.job.LastEnd.Run != "" || t.job.Open.Run != ""
	if h := t.job.Holder; len(t.parts) > 0 {
		all.Holder, all.At, all.Left = h, t.job.At, t.job.Left
	}
	return all, nil
}

// forget begins with a lock that is held, whose refusal keeps the rest.
func (t *target) forget(ctx context.Context, c lock.Change) (lock.ChangeResult, error) {
	locks := []string{t.name}
	for _, part := range t.parts {
		locks = append(locks, part.Name)
		if part.Left != 0 {
			locks[0], locks[len(locks)-1] = part.Name, locks[0]
		}
	}
	for _, part := range t.listed {
		if !slices.Contains(locks, part) {
			locks = append(locks, part)
		}
	}
	return t.each(ctx, locks, c)
}

// stop pauses the job first, if that is wanted: then no other run starts meanwhile.
func (t *target) stop(ctx context.Context, c lock.Change) (lock.ChangeResult, error) {
	locks, err := t.heldBy(c.Run)
	if err != nil {
		return lock.ChangeResult{}, err
	}
	var paused lock.ChangeResult
	if c.ThenPause {
		pause := c
		pause.Act, pause.Run = lock.ActPause, ""
		if paused, err = t.each(ctx, t.startedBehind(), pause); err != nil {
			return paused, err
		}
	}
	c.ThenPause = false
	result, err := t.store.Change(ctx, locks[0], c) // the run obeys a stop of any of its permits
	var refused *lock.RefusedError
	if errors.As(err, &refused) {
		refused.Pause = cmp.Or(refused.Pause, paused.Pause)
	}
	result.Pause = cmp.Or(result.Pause, paused.Pause)
	if len(t.job.Waiters) > 0 {
		result.Next = t.job.Waiters[0]
	}
	return result, err
}

// unlock frees each permit of the run, or each that holds a foreign value.
func (t *target) unlock(ctx context.Context, c lock.Change) (result lock.ChangeResult, err error) {
	locks, err := t.heldBy(c.Run)
	if c.Foreign {
		locks, err = t.foreign(), nil
	}
	for n, lockName := range locks {
		if err != nil {
			break
		}
		var one lock.ChangeResult
		if one, err = t.store.Change(ctx, lockName, c); n == 0 {
			result = one
		}
	}
	return result, err
}

// foreign returns the locks that hold foreign values; if there is none, the one that is held.
func (t *target) foreign() (locks []string) {
	held := t.name
	for _, part := range append([]lock.Job{t.whole}, t.parts...) {
		if part.Holder.Foreign != "" {
			locks = append(locks, part.Name)
		}
		if part.Holder.Run != "" {
			held = part.Name
		}
	}
	if len(locks) == 0 {
		return []string{held}
	}
	return locks
}

// heldBy returns the locks of a run, in order: its permits, or the gate. Without a run it means the only one that has
// a permit. If nothing fits it returns the lock whose answer says so.
func (t *target) heldBy(run string) (locks []string, err error) {
	var runs []string
	byRun := make(map[string][]string)
	for _, part := range append(slices.Clone(t.parts), t.whole) {
		id := part.Holder.Run
		if id == "" || run == "" && collecting(part) {
			continue
		}
		if byRun[id] == nil {
			runs = append(runs, id)
		}
		byRun[id] = append(byRun[id], part.Name)
	}
	switch {
	case run == "" && len(runs) > 1:
		return nil, &lock.RefusedError{Name: t.name, Refusal: lock.SeveralRuns,
			ChangeResult: lock.ChangeResult{Now: t.job.Now, Holder: t.job.Holder, At: t.job.At, Left: t.job.Left}}
	case run == "" && len(runs) == 1:
		return byRun[runs[0]], nil
	case byRun[run] != nil:
		return byRun[run], nil
	case len(runs) > 0:
		return byRun[runs[0]], nil
	}
	return []string{t.parts[0].Name}, nil
}
