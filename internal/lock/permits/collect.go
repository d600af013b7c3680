package permits

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redlockrun/internal/lock"
)

// A collector looks often at first, since permits mostly come soon, and then as often as is cheap.
const (
	oftenFor   = time.Second
	lookOften  = 100 * time.Millisecond
	lookSeldom = 500 * time.Millisecond
)

// A collection is the permits that a run collects while it has the gate.
type collection struct {
	*acquisition
	looker lock.Looker
	names  []string        // of the permits that are looked at
	all    *bundle         // the gate first, and behind it the permits that the run has
	taken  []int           // their numbers
	spoilt map[int]bool    // permits that this round cannot get any more: nobody knows who has them
	state  *lock.HeldError // the last answer; nil: there is none, or it was an outage
	outage error           // what says most of why there is no answer
	began  time.Time
	fails  int
	looks  int
	retry  time.Time // of a renewal that had no answer; zero: it had
}

func newCollection(a *acquisition, gate lock.Lease) *collection {
	c := &collection{acquisition: a, all: &bundle{leases: []lock.Lease{gate}}, spoilt: map[int]bool{},
		began: a.req.Clock.Now()}
	c.looker, _ = gate.(lock.Looker)
	c.names = lock.PermitsOf(a.req.Name, a.claim.Of)
	if a.claim.All {
		c.names = lock.PermitsOf(a.req.Name, lock.MostPermits)
	}
	return c
}

// collect returns when the run has all that it wants, and else an error: that the permits stayed busy, that
// the gate was lost, or why the store could not be asked.
func (c *collection) collect(ctx context.Context) error {
	if c.looker == nil {
		return fmt.Errorf("collect permits: the store cannot tell who has them")
	}
	for {
		complete, err := c.look(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case complete:
			return nil
		case !c.valid():
			return errGateLost
		}
		if err := c.judge(err); err != nil {
			return err
		}
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
}

// judge returns why the collecting ends with the answer of a look, if it does.
func (c *collection) judge(err error) error {
	var outage *lock.UnavailableError
	switch {
	case err == nil:
		c.outage, c.fails = nil, 0
		if c.beginWait(); c.waitIsOver() || !c.waits && !c.outrun() {
			return c.state
		}
		return lock.Announce(c.req, c.state)
	case !errors.As(err, &outage) || outage.Denied:
		return err
	}
	c.outage = lock.ClearerError(c.outage, err, true)
	c.fails++
	patience := c.deadline
	if !c.waits || patience.IsZero() && c.state == nil {
		patience = c.began.Add(c.req.Timeout)
	}
	if !patience.IsZero() && c.req.Clock.Until(patience) <= 0 {
		return c.outage
	}
	if c.waits && c.state != nil {
		return lock.Announce(c.req, err)
	}
	return nil
}

// outrun reports whether another came between a look and the taking, for an instant: so many permits are free
// that it is worth another look.
func (c *collection) outrun() bool {
	c.looks++
	return c.looks < mostRounds && c.state.Permits.Free >= c.claim.Take && !c.claim.All
}

// pause waits until it is time to look again, and keeps what the run has meanwhile.
func (c *collection) pause(ctx context.Context) error {
	next := c.req.Clock.Now().Add(c.untilLook())
	for {
		due := c.renewalDue()
		wake := next
		if due.Before(wake) {
			wake = due
		}
		if !lock.Sleep(ctx, c.req.Clock.Until(wake)) {
			return context.Cause(ctx)
		}
		if c.req.Clock.Until(due) <= 0 {
			if err := c.renew(ctx); err != nil {
				return err
			}
		}
		if c.req.Clock.Until(next) <= 0 {
			return nil
		}
	}
}

// untilLook is how long to wait for the next look.
func (c *collection) untilLook() time.Duration {
	d := lookSeldom
	switch {
	case c.fails > 0:
		d = c.req.RetryPolicy().Delay(c.fails - 1)
	case c.req.Clock.Now().Sub(c.began) < oftenFor:
		d = lookOften
	}
	if c.deadline.IsZero() {
		return d
	}
	return min(d, max(0, c.req.Clock.Until(c.deadline)))
}

// renewalDue is when to renew what the run has.
func (c *collection) renewalDue() time.Time {
	due := c.req.Times.Sent(c.all.Until()).Add(c.req.Times.Renew)
	if c.retry.After(due) {
		return c.retry
	}
	return due
}

// renew renews the gate together with the permits.
func (c *collection) renew(ctx context.Context) error {
	limited, cancel := c.try(ctx)
	defer cancel()
	_, err := c.all.Renew(limited)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, lock.ErrLost), !c.valid():
		return errGateLost
	case err != nil:
		c.retry = c.req.Clock.Now().Add(c.req.Draw.Jitter(c.req.Times.RetryDelay))
	case c.all.StopAsked():
		return &lock.StoppedError{Name: c.req.Name}
	}
	return nil
}

// valid reports whether the run has the gate, and all that it has collected.
func (c *collection) valid() bool { return c.req.Clock.Until(c.all.Until()) > 0 }

// try bounds one question, which counts only if its answer comes while the gate is held.
func (c *collection) try(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(c.req.Times.Try, c.req.Clock.Until(c.all.Until())))
}

// look looks once who has the permits, and takes those that are free, as many as are wanted. Its error
// says that the store could not be asked, or that the run must not go on.
func (c *collection) look(ctx context.Context) (complete bool, err error) {
	limited, cancel := c.try(ctx)
	holders, paused, err := c.looker.Look(limited, c.names)
	cancel()
	if err != nil || !c.valid() {
		return false, err
	}
	if paused != nil && !c.req.IgnorePause {
		return false, errPaused
	}
	var free []int
	for i, held := range holders {
		switch {
		case held == nil:
			free = append(free, i+1)
		case c.encloses(held):
			return false, &lock.NestedError{Name: c.req.Name, Holder: held.Holder, Permits: true}
		}
	}
	c.state = c.busy(holders, len(free))
	if c.claim.All {
		return len(free) == len(holders), nil
	}
	return c.take(ctx, free)
}

// busy says who is in the way: of several, the one that has its permit for longest.
func (c *collection) busy(holders []*lock.HeldError, free int) *lock.HeldError {
	var longest *lock.HeldError
	for _, held := range holders {
		switch {
		case held == nil || held.Holder.Run == c.req.Holder.Run:
		case longest == nil, !held.Since.IsZero() && (longest.Since.IsZero() || held.Since.Before(longest.Since)):
			longest = held
		}
	}
	if longest == nil { // none but permits of this run, of which the store did not say that it has them
		longest = &lock.HeldError{}
	}
	told := *longest
	told.Permits = &lock.PermitState{Of: c.claim.Of, Wanted: c.wanted(), Free: free + len(c.taken)}
	return c.namedHeld(&told)
}

// take takes as many free permits as the run lacks. The run is recorded with the first one, and so that is
// taken before the others.
func (c *collection) take(ctx context.Context, free []int) (complete bool, err error) {
	for len(free) > 0 && err == nil && len(c.taken) < c.claim.Take {
		n := 1
		if len(c.taken) > 0 {
			n = min(len(free), c.claim.Take-len(c.taken))
		}
		err = c.takeThese(ctx, free[:n])
		free = free[n:]
	}
	return err == nil && len(c.taken) == c.claim.Take && c.valid(), err
}

// takeThese asks for some permits at once.
func (c *collection) takeThese(ctx context.Context, numbers []int) (failed error) {
	leases, errs := make([]lock.Lease, len(numbers)), make([]error, len(numbers))
	var taking sync.WaitGroup
	for i, n := range numbers {
		if !c.spoilt[n] {
			req := c.permitRequest(n)
			taking.Go(func() { leases[i], errs[i] = c.base.Acquire(ctx, req) })
		}
	}
	taking.Wait()
	for i, n := range numbers {
		if leases[i] != nil {
			c.taken = append(c.taken, n)
			c.all.leases = append(c.all.leases, leases[i])
		}
		if errs[i] == nil || errors.As(errs[i], new(*lock.HeldError)) {
			continue
		}
		c.spoilt[n] = true
		if failed == nil || !errors.As(errs[i], new(*lock.UnavailableError)) {
			failed = errs[i]
		}
	}
	if c.claim.Of-len(c.spoilt) < c.claim.Take && errors.As(failed, new(*lock.UnavailableError)) {
		return errGateLost // another round has a run id of its own, and can get them
	}
	return failed
}

func (c *collection) permitRequest(n int) lock.Request {
	req := c.req
	req.Name, req.Wait, req.OnBusy, req.OnOutage = lock.PermitOf(c.req.Name, n), lock.Wait{}, nil, nil
	req.Timeout = max(time.Millisecond, min(req.Timeout, c.req.Clock.Until(c.all.Until())))
	if len(c.taken) > 0 {
		req.History = 0 // the run is recorded once
	}
	return req
}

// giveBack releases what the run has, whatever has become of ctx.
func (c *collection) giveBack(ctx context.Context, why error) {
	limit := lock.ReleaseLimit
	if ctx.Err() != nil {
		limit = lock.GiveUpLimit
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var end lock.ReleaseRequest
	if errors.As(why, new(*lock.StoppedError)) {
		end.Result = lock.RunResult{End: lock.EndStopped, Status: lock.StatusStopped}
	}
	c.all.leases = append(c.all.leases[1:], c.all.leases[0]) // the gate last: the run is recorded with the first
	c.all.Release(ctx, end)
}

// lease is what the run has collected. Of a run with permits the gate is given back meanwhile.
func (c *collection) lease() lock.Lease {
	gate := c.all.leases[0]
	if c.claim.All {
		l := &lease{bundle: c.all, run: c.req.Holder.Run, alone: true}
		for n := range c.claim.Of {
			l.numbers = append(l.numbers, n+1)
		}
		return l
	}
	l := &lease{bundle: &bundle{leases: c.all.leases[1:]}, run: c.req.Holder.Run, numbers: c.taken}
	l.leaving.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lock.ReleaseLimit)
		defer cancel()
		gate.Release(ctx, lock.ReleaseRequest{}) // what goes wrong lapses by itself
	})
	return l
}
