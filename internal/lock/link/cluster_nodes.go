package link

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"redlockrun/internal/lock"
)

// ClusterSlots is how many slots a Cluster has.
const ClusterSlots = 16384

// mostClusterNodes is how many nodes a Cluster can have, as its makers say.
const mostClusterNodes = 1000

// A Node is one node of a Cluster, as a node tells of it.
type Node struct {
	ID     string
	Addr   string // host:port, where clients are sent; "" if the reporting node does not know
	Flags  []string
	Master string // the id of the one that it follows; "" of a master
	Linked bool   // with the node that tells
	Slots  []SlotRange
	Open   []OpenSlot // that are on their way; each node tells of its own alone
}

// Is reports whether a node has a flag.
func (n Node) Is(flag string) bool { return slices.Contains(n.Flags, flag) }

// A SlotRange is the slots from First to Last.
type SlotRange struct{ First, Last int }

// An OpenSlot is on its way to another node, or from it.
type OpenSlot struct {
	Slot      int
	Importing bool
	Other     string // the id of the other node
}

// Readdressed has nodes at the addresses where clients are sent, which need not be those
// that the nodes have for each other.
func Readdressed(nodes, sent []Node) []Node {
	for i, n := range nodes {
		if at := slices.IndexFunc(sent, func(s Node) bool { return s.ID == n.ID }); at >= 0 {
			nodes[i].Addr = sent[at].Addr
		}
	}
	return nodes
}

var errManyNodes = errors.New("read reply: it has too many nodes for a Cluster")

// ReadNodes reads the answer of from to CLUSTER NODES. It may contain anything.
func ReadNodes(reply any, from string) (nodes []Node, err error) {
	text, ok := reply.(string)
	if !ok {
		return nil, fmt.Errorf("read reply: %T is not a list of nodes", reply)
	}
	for line := range strings.Lines(text) {
		if len(nodes) == mostClusterNodes {
			return nil, errManyNodes
		}
		n, err := readNode(strings.Fields(line), from)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		return nil, errors.New("read reply: it names no node")
	}
	return nodes, nil
}

// readNode reads a line: id, address, flags, master, two times, an epoch, the link, slots.
func readNode(words []string, from string) (n Node, err error) {
	if len(words) < 8 || !isNodeID(words[0]) || words[3] != "-" && !isNodeID(words[3]) ||
		words[7] != "connected" && words[7] != "disconnected" {
		return n, fmt.Errorf("read reply: %q is not a node", shortened(strings.Join(words, " ")))
	}
	n = Node{ID: words[0], Flags: strings.Split(words[2], ","), Linked: words[7] == "connected"}
	n.Addr = nodeAddr(words[1], from, n.Is("myself"))
	if words[3] != "-" {
		n.Master = words[3]
	}
	for _, word := range words[8:] {
		if err := n.take(word); err != nil {
			return n, err
		}
	}
	return n, nil
}

// isNodeID reports whether a word is a node's id: 40 hexadecimal digits.
func isNodeID(word string) bool {
	return len(word) == 40 && strings.Trim(word, "0123456789abcdef") == ""
}

// nodeAddr reads ip:port@busport[,hostname[,name=value]]; "" if there is no address. A node
// that has not been told its own has none before the port.
func nodeAddr(word, from string, myself bool) string {
	word, _, _ = strings.Cut(word, ",")
	word, _, _ = strings.Cut(word, "@")
	i := strings.LastIndexByte(word, ':')
	if i < 0 {
		return ""
	}
	host, port := strings.Trim(word[:i], "[]"), word[i+1:]
	if host == "" && myself {
		host, _, _ = net.SplitHostPort(from)
	}
	addr, _ := hostPort(host, port)
	return addr
}

// take reads 17, 0-5460, or [93-<-ID] and [93->-ID].
func (n *Node) take(word string) error {
	inner, open := strings.CutPrefix(word, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if open != closed {
		return errSlots(word)
	}
	if open {
		return n.takeOpen(inner)
	}
	first, last, ranged := strings.Cut(word, "-")
	if !ranged {
		last = first
	}
	r := SlotRange{slotOf(first), slotOf(last)}
	if r.First < 0 || r.Last < r.First {
		return errSlots(word)
	}
	n.Slots = append(n.Slots, r)
	return nil
}

func (n *Node) takeOpen(word string) error {
	for _, arrow := range []string{"-<-", "->-"} {
		slot, other, ok := strings.Cut(word, arrow)
		if ok && slotOf(slot) >= 0 && isNodeID(other) {
			n.Open = append(n.Open, OpenSlot{slotOf(slot), arrow == "-<-", other})
			return nil
		}
	}
	return errSlots(word)
}

func errSlots(word string) error { return fmt.Errorf("read reply: %q is not a slot", shortened(word)) }

func shortened(text string) string { return lock.Escaped(text[:min(len(text), mostShown)]) }

// slotOf is the number of a slot; -1 if the word is none.
func slotOf(word string) int {
	n, err := strconv.ParseUint(word, 10, 16)
	if err != nil || n >= ClusterSlots {
		return -1
	}
	return int(n)
}

// ReadSlots reads what from has answered to CLUSTER SLOTS: the nodes that have slots, and
// those that follow them. Of each it tells where clients are sent.
func ReadSlots(reply any, from string) (nodes []Node, err error) {
	parts, ok := reply.([]any)
	for _, part := range parts {
		slots, _ := part.([]any)
		if ok = ok && len(slots) > 2; !ok {
			break
		}
		r := SlotRange{int(numberAt(slots, 0)), int(numberAt(slots, 1))}
		if r.First < 0 || r.Last < r.First || r.Last >= ClusterSlots {
			return nil, errSlots(fmt.Sprint(slots[:2]))
		}
		if nodes = addServing(nodes, slots[2:], r, from); len(nodes) > mostClusterNodes {
			return nil, errManyNodes
		}
	}
	if !ok {
		return nil, errors.New("read reply: it is not a list of slots")
	}
	return nodes, nil
}

// addServing adds the nodes that serve a range: the first has it, the others follow that.
func addServing(nodes []Node, serving []any, r SlotRange, from string) []Node {
	master := ""
	for i, part := range serving {
		node, _ := part.([]any)
		id := textAt(node, 2)
		if !isNodeID(id) {
			continue // before Redis 4 they had none
		}
		at := slices.IndexFunc(nodes, func(n Node) bool { return n.ID == id })
		if at < 0 {
			at = len(nodes)
			nodes = append(nodes, Node{ID: id, Addr: strings.Join(addressesIn([]any{nil, nil, part}, from), ""),
				Master: master, Linked: true})
		}
		if i == 0 {
			nodes[at].Slots = append(nodes[at].Slots, r)
			master = id
		}
	}
	return nodes
}

// Uncovered are the slots that none of the nodes has.
func Uncovered(nodes []Node) (missing []SlotRange) {
	var all []SlotRange
	for _, n := range nodes {
		all = append(all, n.Slots...)
	}
	slices.SortFunc(all, func(a, b SlotRange) int { return a.First - b.First })
	next := 0 // the first that has not been looked at
	for _, r := range append(all, SlotRange{ClusterSlots, ClusterSlots}) {
		if r.First > next {
			missing = append(missing, SlotRange{next, r.First - 1})
		}
		next = max(next, r.Last+1)
	}
	return missing
}
