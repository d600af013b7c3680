package line

import (
	"context"
	"time"

	"redlockrun/internal/lock/link"
)

// In a Cluster the set of names lives in a slot of its own, out of the reach of the steps:
// a job is put there beside its command, which does not wait for it.

// listLimit is the most that putting a job among the names may take.
const listLimit = 5 * time.Second

var (
	enlist = link.NewScript(readNothing, func() string {
		return "local t = redis.call('TIME') redis.call('ZADD', KEYS[1], t[1] * 1000, ARGV[1]) " +
			"redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', t[1] * 1000 - ARGV[2]) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return {1}"
	})
	markListed = link.NewScript(readNothing, func() string {
		return "redis.call('HSET', KEYS[1], 'listed', math.floor(redis.call('TIME')[1] / 86400)) return {1}"
	})
)

func readNothing(r *link.Reply) struct{} {
	if r.Code() != 1 {
		r.Strange()
	}
	return struct{}{}
}

// listed is how long a job is among the names after its last run.
const listed = 90 * 24 * time.Hour

// list puts the job among the names in the background, until unlist. What goes wrong is
// no matter: another run will do it.
func (s *redisStore) list(a *acquisition) {
	if !a.listable {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, listLimit)
	a.stopListing = cancel
	a.closing.Go(func() {
		defer cancel()
		names, job := s.source.Link(ctx, a.keys.Jobs, a.req.Clock, a.req.Draw), s.source.Link(ctx, a.keys.Job, a.req.Clock, a.req.Draw)
		defer names.Close()
		defer job.Close()
		if _, _, err := enlist.Eval(ctx, names, []string{a.keys.Jobs}, a.req.Name, listed.Milliseconds()); err == nil {
			markListed.Eval(ctx, job, []string{a.keys.Job})
		}
	})
}

// unlist ends the listing, done or not.
func (a *acquisition) unlist() {
	if a.stopListing != nil {
		a.stopListing()
	}
}
