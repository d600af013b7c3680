package link

import (
	"context"
	"net"
	"slices"
	"strconv"
	"time"
)

const (
	// mostNodes is how many nodes of a Cluster a holder remembers.
	mostNodes = 8

	// learnEvery is the least time between two questions for the nodes.
	learnEvery = time.Minute
)

// knownNodes are the nodes of a Cluster that a holder or a waiter has heard of: those that
// have served it and, of a holder, those that could take over from them, and others. They are
// asked beside those of the URL, which may all be gone meanwhile. An address that is
// remembered can have become another's. A holder finds that out without harm, and a waiter
// has looked there some seconds ago.
type knownNodes struct {
	nodes   []string  // host:port, the most useful first
	next    time.Time // when to ask for them again
	refused bool      // the user may not ask for them
}

// LearnNodes notes the node of a Cluster that has just served a holder, and asks it
// now and then for the others. Without the right to do so, the holder knows of
// those alone that it was sent to.
func (l *Link) LearnNodes(ctx context.Context) {
	at, now := l.source.addr.at, l.clock.Now()
	if l.source.addr.kind != cluster || at == "" {
		return
	}
	known := &l.source.known
	known.add(at)
	if known.refused || now.Before(known.next) {
		return
	}
	known.next = now.Add(learnEvery)
	var slots []any
	_, err := l.askOnce(ctx, func(c client) (err error) {
		slots, err = clusterSlots(ctx, c)
		return err
	})
	if known.refused = Answered(err); err == nil && len(slots) > 0 {
		known.nodes = nil // only the news
		known.add(nodesIn(slots, at)...)
	}
}

// NoteNode notes that the node that was asked last has the lock, if it is one of a Cluster.
func (l *Link) NoteNode() { l.source.known.add(l.source.addr.at) }

// add puts some nodes in front, and forgets the last if they are too many.
func (k *knownNodes) add(nodes ...string) {
	k.nodes = union(nodes, k.nodes)
	k.nodes = k.nodes[:min(len(k.nodes), mostNodes)]
}

func union(lists ...[]string) (all []string) {
	for _, one := range slices.Concat(lists...) {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

func clusterSlots(ctx context.Context, c client) ([]any, error) {
	p := c.Pipeline()
	slots := p.Do(ctx, "CLUSTER", "SLOTS")
	p.Exec(ctx) // the command has its own error
	return slots.Slice()
}

// nodesIn reads CLUSTER SLOTS as at has answered it: first at, then those that
// have the same slots, then the others.
func nodesIn(reply []any, at string) []string {
	mates, others := []string{at}, []string(nil)
	for _, part := range reply {
		slots, _ := part.([]any)
		if nodes := addressesIn(slots, at); slices.Contains(nodes, at) {
			mates = append(mates, nodes...)
		} else {
			others = append(others, nodes...)
		}
	}
	return union(mates, others)
}

// addressesIn are the nodes of one part: {first, last, {host, port, ...}...}.
func addressesIn(slots []any, at string) (nodes []string) {
	for _, part := range slots[min(2, len(slots)):] {
		node, _ := part.([]any)
		host := textAt(node, 0)
		if host == "" || host == "?" { // the one that answers, as far as it knows
			host, _, _ = net.SplitHostPort(at)
		}
		if addr, err := hostPort(host, strconv.FormatInt(numberAt(node, 1), 10)); err == nil {
			nodes = append(nodes, addr)
		}
	}
	return nodes
}

// numberAt is the i-th part of a list; 0 if there is none or it is no number.
func numberAt(list []any, i int) int64 {
	if i < len(list) {
		n, _ := list[i].(int64)
		return n
	}
	return 0
}
