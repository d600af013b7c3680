package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"redlockrun/internal/lock/link"
)

// askNode asks a node of a Cluster for what surveyCluster puts together. Slots that are on
// their way each node knows of itself alone.
func askNode(ctx context.Context, v *visit) []Finding {
	slots, slotsErr := asked(ctx, v, link.ReadSlots, "CLUSTER", "SLOTS")
	nodes, nodesErr := asked(ctx, v, link.ReadNodes, "CLUSTER", "NODES")
	if info, err := v.ask(ctx, "CLUSTER", "INFO"); err == nil {
		v.told.down = strings.Contains(fmt.Sprint(info), "cluster_state:fail")
	}
	switch {
	case nodesErr == nil:
		v.told.nodes = link.Readdressed(nodes, slots)
		return nil
	case slotsErr == nil:
		v.told.nodes = slots
	case isSingle(nodesErr), isSingle(slotsErr):
		return []Finding{v.is("cluster", Warn,
			"it is a single server, not a node of a Cluster; jobs run there anyway").
			to("use redis:// instead of redis+cluster:// for one server")}
	case !barred(nodesErr):
		return []Finding{v.is("cluster", Fail, "%s", v.Say(nodesErr)).
			to("check that it is a Cluster; use redis:// for one server")}
	}
	return []Finding{v.is("cluster", Unseen, "cannot check for moving slots and failed nodes: %s",
		v.Say(nodesErr)).
		to("grant +cluster|nodes to check them")}
}

// isSingle reports whether a server says that it is no node of a Cluster.
func isSingle(err error) bool {
	return strings.Contains(refusedBy(err).Text, "cluster support disabled")
}

// asked puts a question, and reads the reply as the one of this server.
func asked[R any](
	ctx context.Context, v *visit, read func(any, string) (R, error), words ...any,
) (answer R, err error) {
	reply, err := v.ask(ctx, words...)
	if err != nil {
		return answer, err
	}
	return read(reply, v.Address())
}

// surveyCluster checks whether each key has a node that serves it, at an address that this host
// can reach.
func surveyCluster(_ context.Context, _ *Examination, visits []*visit) []Finding {
	var said gossip
	var tell []*visit
	for _, v := range of(visits, Node) {
		if v.told.nodes != nil {
			tell = append(tell, v)
		}
	}
	if len(tell) == 0 {
		return nil
	}
	for _, v := range tell {
		for _, f := range slices.Concat(v.coverage(), v.failures(), v.unreachable(visits)) {
			said.add(v.Address(), f)
		}
	}
	found := said.findings(len(tell))
	for _, v := range tell {
		found = append(found, v.moving()...)
	}
	if Status(found) == 0 {
		found = append(found, about("cluster", Ok,
			"each of the %d slots has a master; none of the %d masters has failed",
			link.ClusterSlots, len(tell[0].masters())))
	}
	return found
}

// masters are the nodes that have slots.
func (v *visit) masters() (masters []link.Node) {
	for _, n := range v.told.nodes {
		if len(n.Slots) > 0 {
			masters = append(masters, n)
		}
	}
	return masters
}

const hintCheck = "redis-cli --cluster check HOST:PORT shows more, redis-cli --cluster fix HOST:PORT repairs it"

// coverage reports slots that no node serves.
func (v *visit) coverage() (found []Finding) {
	if missing := link.Uncovered(v.told.nodes); len(missing) > 0 {
		found = append(found, about("cluster", Fail,
			"no node serves %s: jobs with keys there cannot run (69), perhaps no job at all",
			slotsText(missing)).to(hintCheck))
	} else if v.told.down {
		found = append(found, about("cluster", Fail, "the Cluster is down: it serves no key").
			to("see redis-cli cluster info and the logs of the nodes; too many masters may be down"))
	}
	return found
}

// mostRanges is how many ranges of slots are named.
const mostRanges = 4

// slotsText names ranges: slot 5, or slots 0-99, 5461.
func slotsText(ranges []link.SlotRange) string {
	var words []string
	for i, r := range ranges {
		if i == mostRanges {
			words = append(words, fmt.Sprintf("and %d more ranges", len(ranges)-i))
			break
		}
		word := fmt.Sprint(r.First)
		if r.Last > r.First {
			word = fmt.Sprintf("%d-%d", r.First, r.Last)
		}
		words = append(words, word)
	}
	one := len(ranges) == 1 && ranges[0].First == ranges[0].Last
	if one {
		return "slot " + words[0]
	}
	return "slots " + strings.Join(words, ", ")
}

// failures reports the nodes that this one considers dead.
func (v *visit) failures() (found []Finding) {
	for _, n := range v.told.nodes {
		failed, suspected := n.Is("fail"), n.Is("fail?")
		switch {
		case failed && len(n.Slots) > 0:
			found = append(found, about("cluster", Fail, "master %s has failed, and no replica has taken over its %s",
				called(n), slotsText(n.Slots)).
				to("restart it, or promote a replica: "+
					"redis-cli -h REPLICA cluster failover takeover"))
		case failed:
			found = append(found, about("cluster", Warn, "node %s has failed", called(n)).
				to("restart it, or remove it on all nodes: cluster forget %s", n.ID))
		case suspected:
			found = append(found, about("cluster", Warn,
				"node %s does not answer the other nodes, and may have failed", called(n)).
				to("check that server and its cluster bus port (usually the port plus 10000)"))
		}
	}
	return found
}

// called is a node's address, or its id if it has none.
func called(n link.Node) string {
	if n.Addr == "" {
		return n.ID
	}
	return n.Addr
}

// unreachable are the masters that clients are sent to, and cannot use from here.
func (v *visit) unreachable(reached []*visit) (found []Finding) {
	for _, n := range v.masters() {
		if n.Addr == "" || n.Is("fail") ||
			slices.ContainsFunc(reached, func(r *visit) bool { return r.Address() == n.Addr }) {
			continue
		}
		found = append(found, about("cluster", Fail,
			"the Cluster sends jobs to master %s for %s, but this host cannot use it",
			n.Addr, slotsText(n.Slots)).
			to("if it has another address from here, set "+
				"cluster-announce-ip and cluster-announce-port, or cluster-announce-hostname"))
	}
	return found
}

// moving are the slots that are on their way from this node or to it.
func (v *visit) moving() (found []Finding) {
	for _, n := range v.told.nodes {
		for _, o := range n.Open {
			way := "to"
			if o.Importing {
				way = "from"
			}
			found = append(found, v.is("cluster", Warn,
				"slot %d is moving %s %s: jobs with keys there may ask twice, "+
					"and wait if the move stops", o.Slot, way, v.other(o.Other)).to(hintCheck))
		}
	}
	return found
}

// other is how a node is called that another one names by its id.
func (v *visit) other(id string) string {
	for _, n := range v.told.nodes {
		if n.ID == id {
			return called(n)
		}
	}
	return id
}
