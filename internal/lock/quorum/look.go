package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/step"
)

// look implements master: behind the holders of the locks stands the pause that waits for its own.
func (m *redisMaster) look(ctx context.Context, names []string) ([]*lock.HeldError, error) {
	keys := step.HolderKeys(m.prefix, names, m.req.Name)
	reply, err := inTurn(ctx, m, step.Holders, keys, m.uptime)
	switch {
	case err != nil:
		return nil, err
	case reply.Wait > 0:
		return nil, fmt.Errorf("%w, is not believed for another %s", ErrRestarted, reply.Wait)
	}
	if err := reply.Fault(keys); err != nil {
		return nil, err
	}
	return reply.HeldErrors(append(slices.Clone(names), m.req.Name), keys, m.req.Clock), nil
}

// A sight is what one master has seen.
type sight struct {
	from  int
	locks []*lock.HeldError
	err   error
}

// Look implements lock.Looker: a lock that a majority knows to be free has no holder, as that would need one of
// them. So it is with a pause. Masters that are late are waited for like those of a poll.
func (l *quorumLease) Look(ctx context.Context, names []string) (held []*lock.HeldError, paused *lock.HeldError,
	err error) {
	masters := l.election.masters
	asked, cancel := context.WithCancel(ctx)
	seen := make(chan sight, len(masters))
	var looking sync.WaitGroup
	defer looking.Wait()
	defer cancel()
	for i, m := range masters {
		looking.Go(func() {
			locks, err := m.look(asked, names)
			seen <- sight{i, locks, err}
		})
	}
	view := &view{lease: l, names: append(slices.Clone(names), l.election.req.Name), errs: make([]error, len(masters))}
	var late <-chan time.Time
	for began := time.Now(); view.heard < len(masters) && !view.free(); {
		select {
		case s := <-seen:
			view.add(s)
		case <-late:
			return view.holders()
		}
		if len(view.sights) >= l.need() && late == nil {
			late = time.After(lock.Clamp(leastTrip, time.Since(began)/2, mostTrip))
		}
	}
	return view.holders()
}

// A view is what the masters have seen so far.
type view struct {
	lease  *quorumLease
	names  []string
	sights [][]*lock.HeldError // of those that answered
	heard  int
	errs   []error // by master
}

func (v *view) add(s sight) {
	v.heard++
	if v.errs[s.from] = s.err; s.err == nil {
		v.sights = append(v.sights, s.locks)
	}
}

// free reports whether a majority knows each lock to be free.
func (v *view) free() bool {
	for i := range v.names {
		if v.holder(i) != nil {
			return false
		}
	}
	return true
}

// holder is who most masters say has a lock; nil if a majority knows that nobody has.
func (v *view) holder(at int) (most *lock.HeldError) {
	free, named, top := 0, map[string]int{}, 0
	for _, locks := range v.sights {
		held := locks[at]
		if held == nil {
			free++
			continue
		}
		by := held.Holder.Run + held.Holder.Foreign
		if named[by]++; named[by] > top {
			most, top = held, named[by]
		}
	}
	if free >= v.lease.need() {
		return nil
	}
	if most == nil {
		return &lock.HeldError{Name: v.names[at]}
	}
	return most
}

// holders is what a majority has seen.
func (v *view) holders() (held []*lock.HeldError, paused *lock.HeldError, err error) {
	if len(v.sights) < v.lease.need() {
		return nil, nil, v.unavailable()
	}
	last := len(v.names) - 1
	for i := range last {
		held = append(held, v.holder(i))
	}
	return held, v.holder(last), nil
}

// unavailable says which masters have not answered, and why; or that too many have something else there.
func (v *view) unavailable() error {
	o := &outage{quorum: v.lease.election.quorum}
	wrong := 0
	var not *lock.NotLockError
	for i, err := range v.errs {
		if errors.As(err, &not) {
			wrong++
		}
		if err != nil {
			o.add(v.lease.election.masters[i], err)
		}
	}
	if wrong > len(v.errs)-v.lease.need() {
		return not
	}
	return o.unavailable()
}
