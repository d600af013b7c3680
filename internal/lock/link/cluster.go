package link

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// mostRedirects is how often one request is sent on. Once is usual, twice
// happens while a slot moves.
const mostRedirects = 3

// connectCluster finds the node that has the slot of key, each time anew, and leads there. It asks the
// nodes that the URL names, and those that a holder has heard of. All keys of a lock live in that
// slot, so a lock needs one node at a time. The question is PTTL of the key: its owner answers it, and
// each other node answers with the owner's address. It needs no right that the lock does not need.
func connectCluster(key string) func(context.Context, *Source, *conns) (client, error) {
	return func(ctx context.Context, src *Source, cs *conns) (client, error) {
		node, err := locate(ctx, union(src.addr.hosts, src.known.nodes),
			func(ctx context.Context, host string) vote {
				replies, err := cs.question(ctx, src, src.addr.login(host), []any{"PTTL", key})
				if err != nil {
					return vote{from: host, err: err}
				}
				return ownerOf(host, replies[0])
			})
		if err != nil {
			return nil, err
		}
		return connectTo(src, cs, node), nil
	}
}

// ownerOf reads what host answered.
func ownerOf(host string, reply any) vote {
	refused, ok := reply.(*rejection)
	if !ok {
		return vote{from: host, addr: host}
	}
	r, ok := redirectOf(refused, host)
	switch {
	case !ok:
		return vote{from: host, err: refused}
	case r.asking: // the owner is giving the slot away, and still has it
		return vote{from: host, addr: host}
	}
	return vote{from: host, addr: r.to}
}

// A redirect is the answer that the key is elsewhere: for good, or for this
// request, which is preceded by ASKING.
type redirect struct {
	to     string // host:port
	asking bool
}

// redirectOf reads MOVED and ASK: "MOVED 3999 10.0.0.1:6379". An address
// without a host is on the host that gave it.
func redirectOf(err error, from string) (r redirect, ok bool) {
	refused, ok := refusalIn(err)
	if !ok {
		return r, false
	}
	words := strings.Fields(refused.raw)
	if len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return r, false
	}
	i := strings.LastIndexByte(words[2], ':')
	if i < 0 {
		return r, false
	}
	host, port := words[2][:i], words[2][i+1:]
	if host == "" || host == "?" {
		host, _, _ = net.SplitHostPort(from)
	}
	addr, err := hostPort(strings.Trim(host, "[]"), port)
	return redirect{addr, words[0] == "ASK"}, err == nil
}

// migrationPause is the time between two tries while a slot moves.
const migrationPause = 50 * time.Millisecond

// timeLeft reports whether ctx goes on for d: the last answer of a server tells
// more than a try that is cut short.
func timeLeft(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > d
}

// underMigration reports whether a request has several keys in a slot that is
// being moved: no node serves it until the slot has moved.
func underMigration(err error) bool {
	refused, ok := refusalIn(err)
	return ok && refused.Code == "TRYAGAIN"
}

// asking precedes each request by ASKING: while a slot moves, its new owner
// serves it only so. Once it has moved, ASKING changes nothing. A user who may
// not ask is sent back by the new owner.
type asking struct {
	*redis.Client
	refused *error // why the last ASKING failed
}

func (c asking) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	p := c.Pipeline()
	asked := p.Do(ctx, "ASKING")
	answer := p.Eval(ctx, script, keys, args...)
	p.Exec(ctx) // each command has its own error
	*c.refused = understood(asked.Err(), ReadRefusal)
	return answer
}
