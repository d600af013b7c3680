package line

import (
	"context"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// In a Cluster the set of names lives in a slot of its own, out of the reach of the steps:
// a job is put there beside its command, which does not wait for it. A process does so once.

const (
	// listLimit is the most that putting a job among the names may take.
	listLimit = 5 * time.Second

	// relistAfter is how long a run lasts that looks whether the set has lost its job: a shorter one costs nothing
	// more.
	relistAfter = 100 * time.Millisecond
)

var (
	enlist = link.NewScript("TIME", readNothing,
		"local t = redis.call('TIME') redis.call('ZADD', KEYS[1], t[1] * 1000, ARGV[1]) "+
			"redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', t[1] * 1000 - ARGV[2]) redis.call('PEXPIRE', KEYS[1], "+
			"ARGV[2]) return {1}")
	enlistLost = link.NewScript("TIME", readNothing,
		"local t = redis.call('TIME') redis.call('ZADD', KEYS[1], 'NX', t[1] * 1000, ARGV[1]) "+
			"redis.call('PEXPIRE', KEYS[1], ARGV[2]) return {1}")
	markListed = link.NewScript("HSET", readNothing,
		"redis.call('HSET', KEYS[1], 'listed', math.floor(redis.call('TIME')[1] / 86400)) return {1}")
)

func readNothing(r *link.Reply) struct{} {
	if r.Code() != 1 {
		r.Strange()
	}
	return struct{}{}
}

// list puts the job among the names in the background, until unlist. What goes wrong is
// no matter: another run will do it.
func (s *redisStore) list(a *acquisition) {
	if a.listing == unlisted {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	a.stopListing = cancel
	a.closing.Go(func() {
		defer cancel()
		if a.listing == listDue || lock.Sleep(ctx, relistAfter) {
			s.enlist(ctx, a)
		}
	})
}

func (s *redisStore) enlist(ctx context.Context, a *acquisition) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	names := s.source.Link(ctx, a.keys.Jobs, a.req.Clock, a.req.Draw)
	defer names.Close()
	if a.listing == listLost {
		enlistLost.Eval(ctx, names, []string{a.keys.Jobs}, a.req.Listed(), wire.Remembered.Milliseconds())
		return
	}
	job := s.source.Link(ctx, a.keys.Job, a.req.Clock, a.req.Draw)
	defer job.Close()
	if _, _, err := enlist.Eval(ctx, names, []string{a.keys.Jobs}, a.req.Listed(),
		wire.Remembered.Milliseconds()); err == nil {
		markListed.Eval(ctx, job, []string{a.keys.Job})
	}
}

// unlist ends the listing, done or not.
func (a *acquisition) unlist() {
	if a.stopListing != nil {
		a.stopListing()
	}
}
