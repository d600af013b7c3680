package line

import (
	"context"
	"slices"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/step"
)

// Look implements lock.Looker, over the connection of the lease.
func (l *redisLease) Look(ctx context.Context, names []string) (held []*lock.HeldError, paused *lock.HeldError,
	err error) {
	a := l.acquisition
	keys := step.HolderKeys(a.prefix, names, a.req.Name)
	reply, _, err := step.Holders.Eval(ctx, a.link, keys, 0)
	if err != nil {
		return nil, nil, a.unavailable(err)
	}
	if err := reply.Fault(keys); err != nil {
		return nil, nil, err
	}
	all := reply.HeldErrors(append(slices.Clone(names), a.req.Name), keys, a.req.Clock)
	return all[:len(names)], all[len(names)], nil
}
