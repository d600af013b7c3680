package line

import (
	"context"
	"fmt"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
)

// A releaseRequest is how an acquisition ends: with a lease, or without one, when fence and at are 0.
type releaseRequest struct {
	lock.ReleaseRequest
	fence, at int64
}

// release asks for a release once.
func (a *acquisition) release(ctx context.Context, g releaseRequest) (reply releaseReply, sent bool, err error) {
	var tombstone int64
	if a.unconfirmed {
		tombstone = wire.Tombstone.Milliseconds()
	}
	return a.steps.release.Eval(ctx, a.link, a.all, a.releaseArgs(g, tombstone, a.inLine)...)
}

// releaseArgs are what the release step wants to be told. gone is for how many ms an
// acquire that is still under way does nothing.
func (a *acquisition) releaseArgs(g releaseRequest, tombstone int64, waited bool) []any {
	o := g.Result
	words := fmt.Sprintf("%d %d %d %d", o.Attempts, g.fence, max(0, a.asked), g.at)
	args := a.args(lock.Milliseconds(g.Keep), tombstone, link.Digit(waited),
		string(o.End), o.Status, link.Digit(o.Lost), words, g.at)
	if o.Stood > 0 {
		args = append(args, lock.Milliseconds(o.Stood))
	}
	return args
}

// Release implements lock.Lease. The second try is made on a fresh connection: the first
// may have died without a word while the command ran. For a slot there are more, as
// nobody else can have the lock before the end of the lease.
func (l *redisLease) Release(ctx context.Context, end lock.ReleaseRequest) error {
	a := l.acquisition
	defer a.closing.Wait()
	if end.OutputFollows {
		defer a.link.DropInFlight()
	} else {
		defer a.link.Close()
	}
	a.unlist()
	g := releaseRequest{end, l.fence, l.at}
	var reply releaseReply
	var sent bool
	ask := func(ctx context.Context) (err error) {
		if reply, sent, err = a.release(ctx, g); err != nil {
			a.link.Drop()
		}
		return err
	}
	unconfirmed := func(err error) bool { return sent && !link.Answered(err) }
	var done bool
	var err error
	if a.req.Slot.Name != "" {
		done, err = lock.RetryUntilFinal(ctx, a.req.Times, a.req.Draw, ask, unconfirmed, link.Final)
	} else {
		limited, cancel := context.WithTimeout(ctx, lock.ReleaseLimit)
		defer cancel()
		done, err = lock.TryTwice(limited, ask, unconfirmed)
	}
	switch {
	case err != nil:
		return a.unavailable(err)
	case reply.wrong:
		return a.notLock(reply.key, reply.what)
	case done || reply.owner == wire.Own:
		return nil
	}
	return loss(reply.owner)
}

// KeepOutput implements lock.OutputKeeper.
func (l *redisLease) KeepOutput(ctx context.Context, o lock.Output) error {
	a := l.acquisition
	defer a.link.Close()
	_, _, err := step.KeepOutput.Eval(ctx, a.link, step.OutputKeys(a.keys), step.OutputArgs(a.req.Holder, o)...)
	if err != nil {
		return a.unavailable(err)
	}
	return nil
}
