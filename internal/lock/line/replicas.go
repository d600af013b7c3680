package line

import (
	"context"
	"fmt"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// replicate returns nil when as many replicas as wanted have the lock, and
// gives it back otherwise.
//
// WAIT speaks of what its own connection has written, so that the lock is
// renewed there, in the same round trip: replicas that have the renewal have
// what was written before it.
func (a *acquisition) replicate(ctx context.Context, l *redisLease, cfg lock.Servers) error {
	patience := cfg.ReplicasTimeout
	if patience <= 0 {
		patience = lock.DefaultReplicasTimeout
	}
	t := a.req.Times
	patience = min(patience, a.req.Clock.Until(t.Term(l.Until()))-t.Try) // then it would be too late to run
	got, err := a.acknowledged(ctx, l, cfg.Replicas, max(patience, time.Millisecond))
	if err == nil && got < int64(cfg.Replicas) {
		err = &fewReplicas{got, cfg.Replicas, patience}
	}
	if err == nil {
		return nil
	}
	failed := a.unavailable(err)
	l.Release(context.WithoutCancel(ctx), lock.ReleaseRequest{})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed
}

// fewReplicas says how many have acknowledged the lock.
type fewReplicas struct {
	got    int64
	wanted int
	within time.Duration
}

func (e *fewReplicas) Error() string {
	return fmt.Sprintf("%d of %d replicas have acknowledged the lock within %s", e.got, e.wanted, e.within)
}

func (e *fewReplicas) Unwrap() error { return lock.ErrFewReplicas }

// acknowledged renews the lease and returns how many replicas have that, as
// soon as they are enough or patience is over.
func (a *acquisition) acknowledged(ctx context.Context, l *redisLease, enough int, patience time.Duration) (int64,
	error) {
	ctx, cancel := context.WithTimeout(ctx, patience+a.req.Times.Try)
	defer cancel()
	sent := a.req.Clock.Now()
	reply, n, err := a.steps.renew.EvalAndWait(ctx, a.link, enough, patience,
		[]string{a.keys.Lock}, a.req.Holder.Run, lock.Milliseconds(a.req.Times.TTL))
	switch {
	case err != nil:
		return 0, err
	case reply.owner != wire.Own:
		return 0, loss(reply.owner)
	}
	l.held(sent, reply.now)
	return n, nil
}
