package permits

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"redlockrun/internal/lock"
)

// A bundle is several leases as one. The run is recorded with the first of them.
type bundle struct{ leases []lock.Lease }

// Until implements lock.Lease: it is valid until the earliest.
func (b *bundle) Until() time.Time {
	until := b.leases[0].Until()
	for _, l := range b.leases[1:] {
		if u := l.Until(); u.Before(until) {
			until = u
		}
	}
	return until
}

// Renew implements lock.Lease: all are renewed at once, and one that is lost is all lost.
func (b *bundle) Renew(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := b.each(func(l lock.Lease) error {
		_, err := l.Renew(ctx)
		if errors.Is(err, lock.ErrLost) {
			cancel() // a definite loss acts at once
		}
		return err
	})
	return b.Until(), err
}

// Release implements lock.Lease. How the run ended is recorded once.
func (b *bundle) Release(ctx context.Context, end lock.ReleaseRequest) error {
	first := b.leases[0]
	return b.each(func(l lock.Lease) error {
		if l == first {
			return l.Release(ctx, end)
		}
		return l.Release(ctx, lock.ReleaseRequest{})
	})
}

// each calls do for all leases at once, and returns the error that says most: a definite loss first.
func (b *bundle) each(do func(lock.Lease) error) (worst error) {
	if len(b.leases) == 1 {
		return do(b.leases[0])
	}
	errs := make([]error, len(b.leases))
	var all sync.WaitGroup
	for i, l := range b.leases {
		all.Go(func() { errs[i] = do(l) })
	}
	all.Wait()
	for _, err := range errs {
		if weight(err) > weight(worst) {
			worst = err
		}
	}
	return worst
}

// weight is how much an error of one lease says about all.
func weight(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, lock.ErrTaken):
		return 3
	case errors.Is(err, lock.ErrLost):
		return 2
	}
	return 1
}

// Held implements lock.Lease.
func (b *bundle) Held() time.Duration { return b.leases[0].Held() }

// StopAsked implements lock.Lease: the mark of any lease is the run's.
func (b *bundle) StopAsked() bool { return slices.ContainsFunc(b.leases, lock.Lease.StopAsked) }

// Instants implements lock.Lease.
func (b *bundle) Instants() lock.Instants { return b.leases[0].Instants() }

// A lease implements Lease.
type lease struct {
	*bundle
	run     string
	numbers []int
	alone   bool // it is the gate's, and stands for all permits

	leaving sync.WaitGroup // the release of the gate
}

// Permits implements Lease.
func (l *lease) Permits() []int { return slices.Sorted(slices.Values(l.numbers)) }

// Run implements Lease.
func (l *lease) Run() string { return l.run }

// Parts implements Lease.
func (l *lease) Parts() []lock.Lease { return l.leases }

// Fence implements lock.Lease: only a run that is alone has one. The fences of two permits are not in the
// order of their runs.
func (l *lease) Fence() int64 {
	if !l.alone {
		return 0
	}
	return l.leases[0].Fence()
}

// Release implements lock.Lease.
func (l *lease) Release(ctx context.Context, end lock.ReleaseRequest) error {
	defer l.leaving.Wait()
	return l.bundle.Release(ctx, end)
}

// KeepOutput implements lock.OutputKeeper: it is kept where the run is recorded.
func (l *lease) KeepOutput(ctx context.Context, o lock.Output) error {
	keeper, ok := l.leases[0].(lock.OutputKeeper)
	if !ok {
		return errors.New("the store cannot keep output")
	}
	return keeper.KeepOutput(ctx, o)
}
