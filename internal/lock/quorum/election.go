package quorum

import (
	"context"
	"errors"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// An election is one Acquire: rounds of asking all masters, until one is won.
type election struct {
	quorum      *quorum
	req         lock.Request
	masters     []master
	round       uint32
	unconfirmed []bool // by master: a request may still be under way there
	reached     bool   // a majority has answered the last round
	cost        budget
}

// contention is how long a majority of masters may be busy, but not for one
// and the same holder, before the lock counts as busy.
const contention = 3 * time.Second

// A splitError says that masters enough answered and nobody had a majority.
type splitError struct {
	busy int // how many masters are another's
	held *lock.HeldError
}

func (*splitError) Error() string { return "no run has a majority" }

// ask holds rounds until the lock is ours or another's, or timeout is over.
func (e *election) ask(ctx context.Context, timeout time.Duration) (lock.Lease, error) {
	patience := lock.RetryPolicy{Total: timeout, Draw: e.req.Draw}
	began := time.Now()
	deadline := began.Add(timeout - patience.Reserve())
	var last error
	for try := 0; ; try++ {
		limit, left := patience.Try(try), time.Until(deadline)
		if err := e.cost.wait(ctx); err != nil {
			return nil, err
		}
		p := e.newPoll(ctx, max(min(limit, left), time.Millisecond))
		lease, err := p.hold(ctx)
		var split *splitError
		isSplit := errors.As(err, &split)
		if err == nil || !isSplit && p.isFinal(err) {
			return lease, err
		}
		delay := patience.Delay(try)
		if isSplit {
			delay = p.backoff(try)
		} else {
			last = lock.ClearerError(last, err, left >= limit || p.count(silent) == 0)
		}
		switch over := time.Until(deadline) <= delay; {
		case isSplit && (over || split.busy >= lock.Majority(e.quorum.size) && time.Since(began) >= contention):
			e.cost.begin()
			return nil, split.held
		case over:
			return nil, last
		case !lock.Sleep(ctx, delay):
			return nil, context.Cause(ctx)
		}
	}
}

// isFinal reports whether another round would end as this one did, with err.
func (p *poll) isFinal(err error) bool {
	if errors.As(err, new(*lock.HeldError)) {
		p.cost.begin()
		return true
	}
	return !errors.As(err, new(*lock.UnavailableError)) || p.majorityRefuses()
}

// majorityRefuses reports whether so many masters refuse us that no majority can be had.
func (p *poll) majorityRefuses() bool {
	refusals := 0
	for _, err := range p.errs {
		if err != nil && link.Final(err) {
			refusals++
		}
	}
	return refusals > p.quorum.size-lock.Majority(p.quorum.size)
}

// giveUp makes sure that nothing of this election takes the lock any more. It
// takes as long as ask has reserved for it, and next to nothing after a signal or
// if a majority has answered.
func (e *election) giveUp(ctx context.Context) {
	limit := e.req.RetryPolicy().Reserve()
	if e.reached || ctx.Err() != nil {
		limit = min(limit, lock.GiveUpLimit)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var all sync.WaitGroup
	for i, m := range e.masters {
		all.Go(func() {
			if e.unconfirmed[i] {
				m.giveUp(ctx, term{round: e.round}.last(), releaseRequest{})
			}
			m.close()
		})
	}
	all.Wait()
}

// A budget bounds what a waiter costs each master: from the first answer
// "busy" on, as many commands as five a second allow, and a few at once.
type budget struct {
	since time.Time // zero: there was no answer "busy" yet
	used  int
}

const (
	perCommand = time.Second / 5
	burst      = 5
)

func (b *budget) begin() {
	if b.since.IsZero() {
		b.since = time.Now()
	}
}

func (b *budget) add(commands int) {
	if !b.since.IsZero() {
		b.used += commands
	}
}

// wait returns when another round, of two commands, is within the budget.
func (b *budget) wait(ctx context.Context) error {
	if b.since.IsZero() || b.used < burst {
		return nil
	}
	due := b.since.Add(time.Duration(b.used+2-burst) * perCommand)
	if !lock.Sleep(ctx, time.Until(due)) {
		return context.Cause(ctx)
	}
	return nil
}
