// Package permits lets several runs hold one name at a time, up to a number: a semaphore; or one run
// alone among them: locks of readers and a writer. It is made of the locks of another store, so each
// guarantee of that store carries over.
//
// A name has a lock for each permit, and one for its gate. A run first takes the gate, in whose line it
// waits, and then collects permits. So there is one collector at a time: runs are served in their order,
// and two that want several permits cannot block each other. What a collector has taken counts only
// while its lease of the gate is valid: whoever has the gate after it sees all that it has.
//
// A run that takes all permits keeps the gate while it runs. With the gate in hand it waits until no
// permit is held. No other run can collect then, whatever number it says.
package permits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlockrun/internal/lock"
)

// A Claim says what runs want of the permits of a name.
type Claim struct {
	Of   int  // how many permits the name has: 1 to lock.MostPermits
	Take int  // how many of them the run takes: 1 to Of
	All  bool // the run takes all, whatever number others say, and Take does not count

	NewRun func() string // nil, but in tests: lock.NewRunID
}

// A Lease is what Acquire of the store returns.
type Lease interface {
	lock.Lease

	// Permits are the numbers of the permits that the run has, in order.
	Permits() []int

	// Run is the run's id. It is not the one of the request if the run has lost the gate and taken it
	// again.
	Run() string

	// Parts are the leases that it is made of.
	Parts() []lock.Lease
}

// A store implements lock.Store. Its leases are of the type Lease.
type store struct {
	lock.Store
	claim Claim
}

// New returns a store whose leases are permits, made of the locks of another store. The leases of that
// must be of the type lock.Looker. Close closes that store, too.
func New(of lock.Store, c Claim) lock.Store {
	if c.NewRun == nil {
		c.NewRun = lock.NewRunID
	}
	return &store{of, c}
}

// Acquire implements lock.Store. The wait is that for the gate and for the permits together.
func (s *store) Acquire(ctx context.Context, req lock.Request) (lock.Lease, error) {
	if err := req.Complete(); err != nil {
		return nil, err
	}
	req.Holder.Permits = s.claim.Of
	if req.Since.IsZero() {
		req.Since = req.Clock.Now()
	}
	a := &acquisition{base: s.Store, claim: s.claim, req: req}
	lease, err := a.await(ctx)
	if err != nil {
		return nil, a.named(err)
	}
	return lease, nil
}

// gatePatience is how long a run that does not wait for permits waits for the gate. Its holder mostly
// passes in milliseconds: to try once would leave permits unused.
const gatePatience = 2 * time.Second

// mostRounds is how often a run that does not wait begins anew when it loses the gate.
const mostRounds = 3

// errGateLost says that the gate was lost before all permits were collected.
var errGateLost = errors.New("the gate to the permits was lost while they were collected")

// errPaused says that a pause waits for the gate. The run gives it back, so that all others are told of the pause.
var errPaused = fmt.Errorf("%w: the job is paused", errGateLost)

// An acquisition is one Acquire.
type acquisition struct {
	base     lock.Store
	claim    Claim
	req      lock.Request // Holder.Run is the present round's
	rounds   int
	waits    bool      // in line, until the deadline
	deadline time.Time // of the wait; zero: the lock was not busy yet, or there is none
	rejoined bool      // a place in line was lost
}

func (a *acquisition) await(ctx context.Context) (lock.Lease, error) {
	if a.waits = a.req.Wait.Limit > 0 && a.req.Wait.Retries == 0; a.waits {
		return a.inLine(ctx)
	}
	return lock.Await(ctx, a.req, func(ctx context.Context, _ time.Duration) (lock.Lease, error) {
		for n := 1; ; n++ {
			lease, err := a.round(ctx)
			if !errors.Is(err, errGateLost) || n == mostRounds {
				return lease, a.named(err)
			}
		}
	})
}

// inLine begins anew, at the end of the line, whenever the gate is lost.
func (a *acquisition) inLine(ctx context.Context) (lock.Lease, error) {
	for fails := 0; ; {
		lease, err := a.round(ctx)
		var outage *lock.UnavailableError
		switch {
		case err == nil:
			return lease, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, errGateLost):
			a.rejoined, fails = true, 0
		case errors.As(err, &outage) && !outage.Denied && a.rejoined && !a.waitIsOver():
			lock.Announce(a.req, err)
			if !lock.Sleep(ctx, a.req.RetryPolicy().Delay(fails)) {
				return nil, context.Cause(ctx)
			}
			fails++
		default:
			return nil, err
		}
	}
}

// round takes the gate and collects permits behind it, once. Whatever it has taken in vain it gives back.
func (a *acquisition) round(ctx context.Context) (lock.Lease, error) {
	if a.rounds++; a.rounds > 1 { // what is on its way to the store from before must not act on this round
		a.req.Holder.Run = a.claim.NewRun()
	}
	gate, err := a.enter(ctx)
	if err != nil {
		return nil, err
	}
	c := newCollection(a, gate)
	if err := c.collect(ctx); err != nil {
		c.giveBack(ctx, err)
		return nil, err
	}
	return c.lease(), nil
}

// enter takes the gate.
func (a *acquisition) enter(ctx context.Context) (lock.Lease, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	gate, err := a.base.Acquire(ctx, a.gateRequest(cancel))
	var held *lock.HeldError
	if errors.As(err, &held) && a.encloses(held) {
		return nil, &lock.NestedError{Name: a.req.Name, Holder: held.Holder, Permits: true}
	}
	return gate, err
}

func (a *acquisition) gateRequest(cancel context.CancelCauseFunc) lock.Request {
	req := a.req
	req.Name = lock.GateOf(a.req.Name)
	if req.Holder.All = a.claim.All; !a.claim.All {
		req.History = 0 // the run is recorded with its permit
	}
	switch {
	case a.waits:
		req.Wait.Limit = a.waitLeft()
		req.OnBusy = a.gateIsBusy
	case req.Wait.Retries > 0:
		req.Wait = lock.Wait{}
	default:
		req.Wait.Limit = gatePatience
		req.OnBusy = func(e *lock.HeldError) {
			if e.Pause != nil || e.Holder.All || e.Holder.Run == "" { // it does not pass in milliseconds
				cancel(e)
			}
		}
	}
	return req
}

// gateIsBusy handles each answer that another has the gate.
func (a *acquisition) gateIsBusy(e *lock.HeldError) {
	a.beginWait()
	if a.req.OnBusy != nil {
		told := a.namedHeld(e)
		told.Rejoined = e.Rejoined || a.rejoined && e.Position > 0
		a.rejoined = a.rejoined && e.Position == 0
		a.req.OnBusy(told)
	}
}

// beginWait notes the first answer "busy": the wait counts from there.
func (a *acquisition) beginWait() {
	if a.deadline.IsZero() && a.waits && a.req.Wait.Limit != lock.Forever {
		a.deadline = a.req.Clock.Now().Add(a.req.Wait.Limit)
	}
}

// waitLeft is how much of the wait is left; at least a moment.
func (a *acquisition) waitLeft() time.Duration {
	if a.deadline.IsZero() {
		return a.req.Wait.Limit
	}
	return max(time.Millisecond, a.req.Clock.Until(a.deadline))
}

func (a *acquisition) waitIsOver() bool {
	return !a.deadline.IsZero() && a.req.Clock.Until(a.deadline) <= 0
}

// encloses reports whether a run around this one is in the way.
func (a *acquisition) encloses(e *lock.HeldError) bool {
	return e.Holder.Run != "" && e.Holder.Ended.IsZero() && slices.Contains(a.req.Enclosing, e.Holder.Run)
}

// named is err with the name that users know in place of that of a part.
func (a *acquisition) named(err error) error {
	var held *lock.HeldError
	var nested *lock.NestedError
	var newer *lock.NewerError
	switch {
	case errors.As(err, &held):
		return a.namedHeld(held)
	case errors.As(err, &nested):
		return &lock.NestedError{Name: a.req.Name, Holder: nested.Holder, Permits: true}
	case errors.As(err, new(*lock.StoppedError)):
		return &lock.StoppedError{Name: a.req.Name}
	case errors.As(err, &newer):
		return &lock.NewerError{Name: a.req.Name, Protocol: newer.Protocol}
	case errors.Is(err, errGateLost):
		return &lock.UnavailableError{Address: a.base.Address(), Err: err}
	}
	return err
}

// namedHeld says of which permits an answer keeps the run.
func (a *acquisition) namedHeld(e *lock.HeldError) *lock.HeldError {
	told := *e
	if told.Name = a.req.Name; told.Permits == nil {
		told.Permits = &lock.PermitState{Of: a.claim.Of, Wanted: a.wanted(), Gate: true}
	}
	return &told
}

// wanted is how many permits the run takes; 0: all.
func (a *acquisition) wanted() int {
	if a.claim.All {
		return 0
	}
	return a.claim.Take
}
