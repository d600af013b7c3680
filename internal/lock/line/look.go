package line

import (
	"context"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/step"
)

// Look implements lock.Looker, over the connection of the lease.
func (l *redisLease) Look(ctx context.Context, names []string) ([]*lock.HeldError, error) {
	a := l.acquisition
	keys := step.LockKeys(a.prefix, names)
	reply, _, err := step.Holders.Eval(ctx, a.link, keys, 0)
	if err != nil {
		return nil, a.unavailable(err)
	}
	if err := reply.Fault(keys); err != nil {
		return nil, err
	}
	return reply.HeldErrors(names, keys, a.req.Clock), nil
}
