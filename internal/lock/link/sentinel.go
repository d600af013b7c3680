package link

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"redlockrun/internal/lock"

	"github.com/redis/go-redis/v9"
)

// connectSentinel asks the sentinels for the master, each time anew, and leads
// there: after a failover, the first request that fails finds the new master.
//
// That it is a master, every step of ours proves by itself: each contains a
// write, which a replica refuses (READONLY).
func connectSentinel(ctx context.Context, src *Source, cs *conns) (client, error) {
	master, err := findMaster(ctx, src, cs)
	if err != nil {
		return nil, err
	}
	return connectTo(src, cs, master), nil
}

// FindMaster is the address of the master that most sentinels name.
func (s *Source) FindMaster(ctx context.Context) (string, error) {
	cs := newConns(ctx, s, &inFlight{off: true})
	defer cs.end()
	return findMaster(ctx, s, cs)
}

func findMaster(ctx context.Context, src *Source, cs *conns) (string, error) {
	return locate(ctx, src.addr.hosts, func(ctx context.Context, host string) vote {
		return askSentinel(ctx, src, cs, host)
	})
}

// connectTo leads to the server at addr, which the URL does not name.
func connectTo(src *Source, cs *conns, addr string) *redis.Client {
	src.addr.at = addr
	opts := options(src.addr, cs)
	opts.Addr = addr
	return redis.NewClient(opts)
}

// askSentinel asks one sentinel, on a connection of its own. What an old one
// or an ACL refuses of the second question only costs the epoch.
func askSentinel(ctx context.Context, src *Source, cs *conns, host string) vote {
	name := src.addr.master
	replies, err := cs.question(ctx, src, src.addr.sentinelLogin(host),
		[]any{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name}, []any{"SENTINEL", "MASTER", name})
	if err != nil {
		return vote{from: host, err: err}
	}
	o := vote{from: host, epoch: epochOf(replies[1])}
	switch named := replies[0].(type) {
	case *rejection:
		o.err = named
	case nil:
		o.err = lock.ErrNoSuchMaster
	case []any:
		if len(named) != 2 {
			o.err = fmt.Errorf("read reply: %d parts are not an address", len(named))
			break
		}
		o.addr, o.err = hostPort(textAt(named, 0), textAt(named, 1))
	default:
		o.err = fmt.Errorf("read reply: %T is not an address", named)
	}
	return o
}

// epochOf finds config-epoch in the names and values of SENTINEL MASTER.
func epochOf(reply any) int64 {
	list, _ := reply.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] == "config-epoch" {
			n, _ := strconv.ParseInt(textAt(list, i+1), 10, 64)
			return n
		}
	}
	return 0
}

// hostPort joins what a server says of another's address.
func hostPort(host, port string) (string, error) {
	addr, ok := parseHost(net.JoinHostPort(host, port), "")
	if !ok || host == "" {
		return "", fmt.Errorf("read reply: %q is not an address", lock.Escaped(net.JoinHostPort(host, port)))
	}
	return addr, nil
}

// textAt is the i-th part of a list; "" if there is none or it is no text.
func textAt(list []any, i int) string {
	if i < len(list) {
		s, _ := list[i].(string)
		return s
	}
	return ""
}
