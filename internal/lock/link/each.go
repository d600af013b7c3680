package link

import (
	"context"
	"errors"
	"slices"
	"sync"

	"redlockrun/internal/lock"

	"github.com/redis/go-redis/v9"
)

// EvalEach has the script run once for each set of keys of a Cluster, which live in one slot
// each: in pipelines, to all nodes at once. Each has its own reply, or its own error.
func (s Script[R]) EvalEach(
	ctx context.Context, src *Source, draw lock.Draw, sets [][]string, args ...any,
) ([]R, []error) {
	replies, errs := make([]R, len(sets)), make([]error, len(sets))
	cs := newConns(ctx, src, &inFlight{off: true})
	defer cs.end()
	nodes, err := owners(ctx, src, cs, sets)
	if err != nil {
		for i := range errs {
			errs[i] = Unavailable(src.addr, err)
		}
		return replies, errs
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	for node, mine := range nodes {
		asking.Go(func() {
			at := *src
			c := connectTo(&at, cs, node)
			defer c.Close()
			for some := range slices.Chunk(mine, perPipeline) {
				s.pipeline(ctx, &at, c, sets, some, args, replies, errs)
			}
			for _, i := range mine {
				errs[i] = s.resolve(ctx, &at, draw, sets[i], args, &replies[i], errs[i])
			}
		})
	}
	return replies, errs
}

// perPipeline is how many questions go to a node together.
const perPipeline = 100

// owners groups the sets by the node that has them, as told by the first node of the URL that answers.
func owners(ctx context.Context, src *Source, cs *conns, sets [][]string) (map[string][]int, error) {
	questions := make([][]any, len(sets))
	for i, keys := range sets {
		questions[i] = []any{"PTTL", keys[0]}
	}
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	type known struct {
		owners map[string][]int
		vote
	}
	answers := make(chan known, len(src.addr.hosts))
	for _, host := range src.addr.hosts {
		asking.Go(func() {
			replies, err := cs.question(ctx, src, src.addr.login(host), questions...)
			k := known{map[string][]int{}, vote{from: host, err: err}}
			for i, reply := range replies {
				o := ownerOf(host, reply)
				k.owners[o.addr] = append(k.owners[o.addr], i)
				k.err = errors.Join(k.err, o.err)
			}
			answers <- k
		})
	}
	nowhere := &nowhereError{}
	for range src.addr.hosts {
		k := <-answers
		if k.err == nil {
			return k.owners, nil
		}
		nowhere.votes = append(nowhere.votes, k.vote)
	}
	return nil, nowhere
}

// pipeline asks one node for some of the sets.
func (s Script[R]) pipeline(ctx context.Context, at *Source, c *redis.Client, sets [][]string, some []int, args []any,
	replies []R, errs []error) {
	p := c.Pipeline()
	answers := make([]*redis.Cmd, len(some))
	for n, i := range some {
		answers[n] = p.Eval(ctx, s.Text(), sets[i], args...)
	}
	p.Exec(ctx) // each command has its own error
	for n, i := range some {
		replies[i], errs[i] = s.answer(answers[n])
		at.addr.outdated(errs[i])
	}
}

// resolve asks by itself for what the node has sent on, and makes an error one for users.
func (s Script[R]) resolve(
	ctx context.Context, src *Source, draw lock.Draw, keys []string, args []any, reply *R, err error,
) error {
	if err == nil {
		return nil
	}
	if _, moved := redirectOf(err, src.addr.at); !moved && !underMigration(err) {
		return Unavailable(src.addr, err)
	}
	l := src.Link(ctx, keys[0], nil, draw)
	defer l.Close()
	if *reply, _, err = s.Eval(ctx, l, keys, args...); err != nil {
		return l.Unavailable(err)
	}
	return nil
}
