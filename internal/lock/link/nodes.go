package link

import (
	"context"
	"time"

	"redlockrun/internal/lock"
)

// IsCluster reports whether it is a Cluster, where each lock has its own node.
func (a Address) IsCluster() bool { return a.kind == cluster }

// Fresh is a source of its own, for an operator, that has read the URL and the files again; what cannot be
// read now is as it was.
func (s *Source) Fresh(ctx context.Context) *Source {
	fresh := *s
	fresh.known, fresh.looks = knownNodes{}, true
	fresh.reload(ctx)
	return &fresh
}

// Masters returns links to the server that a source leads to, or to each node of a Cluster that has
// slots, as told by the first node of the URL that answers. The caller closes each of them.
func (s *Source) Masters(ctx context.Context, draw lock.Draw) ([]*Link, error) {
	if s.addr.kind != cluster {
		return []*Link{s.Link(ctx, "", nil, draw)}, nil
	}
	nodes, err := s.SlotOwners(ctx)
	if err != nil {
		return nil, Unavailable(s.addr, err)
	}
	var links []*Link
	for _, node := range nodes {
		l := s.Link(ctx, "", nil, draw)
		l.connect = func(_ context.Context, src *Source, cs *conns) (client, error) {
			return connectTo(src, cs, node), nil
		}
		links = append(links, l)
	}
	return links, nil
}

// SlotOwners asks the nodes of the URL, one after the other, which nodes have slots.
func (s *Source) SlotOwners(ctx context.Context) ([]string, error) { return s.slotServers(ctx, 1) }

// SlotServers are the owners of slots, and the replicas that may come to be owners.
func (s *Source) SlotServers(ctx context.Context) ([]string, error) {
	return s.slotServers(ctx, mostClusterNodes)
}

// slotServers are so many of each range, its owner first.
func (s *Source) slotServers(ctx context.Context, ofEach int) ([]string, error) {
	cs := newConns(ctx, s, &inFlight{off: true})
	defer cs.end()
	nowhere := &nowhereError{}
	for n, host := range s.addr.hosts {
		nodes, err := askSlots(ctx, s, cs, host, ofEach, len(s.addr.hosts)-n)
		if err == nil {
			return nodes, nil
		}
		nowhere.votes = append(nowhere.votes, vote{from: host, err: err})
	}
	return nil, nowhere
}

// askSlots asks one node, for its part of the time that is left.
func askSlots(ctx context.Context, src *Source, cs *conns, host string, ofEach, parts int) ([]string, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(parts))
		defer cancel()
	}
	replies, err := cs.question(ctx, src, src.addr.login(host), []any{"CLUSTER", "SLOTS"})
	if err != nil {
		return nil, err
	}
	if refused, ok := replies[0].(*rejection); ok {
		return nil, refused
	}
	var nodes []string
	slots, _ := replies[0].([]any)
	for _, part := range slots {
		part, _ := part.([]any)
		nodes = union(nodes, addressesIn(part[:min(2+ofEach, len(part))], host))
	}
	return nodes, nil
}
