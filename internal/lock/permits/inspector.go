package permits

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"redlockrun/internal/lock"
)

// An Inspector reads jobs of any store, and shows the locks of a name with permits as one job. It implements
// lock.Inspector.
type Inspector struct {
	lock.Inspector

	mu     sync.Mutex
	listed map[string]int // the names that were listed, and how many permits each is known to have
}

// Inspect returns a reader of jobs and their permits. It asks nobody yet.
func Inspect(store lock.Inspector) *Inspector { return &Inspector{Inspector: store} }

// Names implements lock.Inspector. The parts of a name are no names of their own.
func (i *Inspector) Names(ctx context.Context, scan bool) ([]string, error) {
	locks, err := i.Inspector.Names(ctx, scan)
	if err != nil {
		return nil, err
	}
	listed := make(map[string]int)
	for _, lockName := range locks {
		name, part := lock.SplitPart(lockName)
		most := lock.PermitNumber(part)
		if part != "" {
			most = max(1, most)
		}
		listed[name] = max(listed[name], most)
	}
	i.mu.Lock()
	i.listed = listed
	i.mu.Unlock()
	return slices.Sorted(maps.Keys(listed)), nil
}

// partsOf returns the gate and the permits that a name may have. A name that has not been listed may have all.
func (i *Inspector) partsOf(name string) []string {
	i.mu.Lock()
	most, known := i.listed[name]
	i.mu.Unlock()
	switch {
	case !known:
		most = lock.MostPermits
	case most == 0:
		return nil
	}
	return append([]string{lock.GateOf(name)}, lock.PermitsOf(name, most)...)
}

// Jobs implements lock.Inspector.
func (i *Inspector) Jobs(ctx context.Context, names []string) ([]lock.Job, error) {
	return i.jobs(ctx, names, i.Inspector.Jobs)
}

// JobsWithRuns implements lock.Inspector.
func (i *Inspector) JobsWithRuns(ctx context.Context, names []string) ([]lock.Job, error) {
	return i.jobs(ctx, names, i.Inspector.JobsWithRuns)
}

// Job implements lock.Inspector. What is unknown of a name without permits is not asked for twice.
func (i *Inspector) Job(ctx context.Context, name string) (lock.Job, error) {
	whole, err := i.Inspector.Job(ctx, name)
	if err != nil {
		return whole, err
	}
	used, err := i.used(ctx, name)
	if err != nil || len(used) == 0 {
		return whole, err
	}
	parts, err := i.Inspector.JobsWithRuns(ctx, used)
	return merged(whole, parts), err
}

// jobs reads the locks of all names together.
func (i *Inspector) jobs(ctx context.Context, names []string,
	read func(context.Context, []string) ([]lock.Job, error)) ([]lock.Job, error) {
	var locks []string
	ends := make([]int, len(names)) // of the locks of each name
	for n, name := range names {
		locks = append(append(locks, name), i.partsOf(name)...)
		ends[n] = len(locks)
	}
	all, err := read(ctx, locks)
	if err != nil {
		return nil, err
	}
	jobs, begin := make([]lock.Job, len(names)), 0
	for n, end := range ends {
		jobs[n] = merged(all[begin], slices.DeleteFunc(all[begin+1:end], unused))
		begin = end
	}
	return jobs, nil
}

// used returns the gate and the permits of a name of which the store knows something.
func (i *Inspector) used(ctx context.Context, name string) (used []string, err error) {
	parts := i.partsOf(name)
	if len(parts) == 0 {
		return nil, nil
	}
	jobs, err := i.Inspector.Jobs(ctx, parts)
	for _, j := range jobs {
		if !unused(j) {
			used = append(used, j.Name)
		}
	}
	return used, err
}

// unused reports whether nothing is known of a lock.
func unused(j lock.Job) bool {
	free := j.State == lock.StateIdle || j.State == ""
	return free && j.Pause == nil && j.Waiting == 0 && len(j.Unfit) == 0 && len(j.Counts) == 0 &&
		cmp.Or(j.Open.Run, j.LastEnd.Run, j.LastSuccess.Run) == "" && len(j.Runs) == 0
}

// Runs implements lock.Inspector.
func (i *Inspector) Runs(ctx context.Context, name string, bad bool) ([]lock.Entry, error) {
	used, err := i.used(ctx, name)
	if err != nil {
		return nil, err
	}
	var lists [][]lock.Entry
	for _, lockName := range append([]string{name}, used...) {
		entries, err := i.Inspector.Runs(ctx, lockName, bad)
		if err != nil {
			return nil, err
		}
		lists = append(lists, entries)
	}
	return newestFirst(lists), nil
}

// Outputs implements lock.Inspector.
func (i *Inspector) Outputs(ctx context.Context, names []string, most int) ([]lock.JobOutputs, error) {
	var locks []string
	ends := make([]int, len(names))
	for n, name := range names {
		used, err := i.used(ctx, name)
		if err != nil {
			return nil, err
		}
		locks = append(append(locks, name), used...)
		ends[n] = len(locks)
	}
	all, err := i.Inspector.Outputs(ctx, locks, most)
	if err != nil {
		return nil, err
	}
	outputs, begin := make([]lock.JobOutputs, len(names)), 0
	for n, end := range ends {
		outputs[n] = mergedOutputs(all[begin:end])
		begin = end
	}
	return outputs, nil
}
