package fencemodel

import "redlockrun/internal/proof/model"

const (
	maxTenants = 2
	keeper     = 0 // the tenant that renews; the other one only passes through
)

// A Lease is the upkeep of a lock over independent nodes, in one size: a
// client enters with a majority, asks the nodes that it counts for a renewal
// again and again, and heals those that lost its key. Another one passes
// through when it can.
//
// Promised: between the first client's entry and a renewal that says "held",
// nobody else entered. An entry and the word "held" count only if a majority of what
// was counted is locked for the client at that instant: this stands for the
// end of the lease, which the model has no clock to tell.
//
// Two rules make it true. Healing starts from a renewal that a majority
// granted without the healed node. And a key that was made by one order counts
// only if the answer to that order came while the majority was still locked:
// each order has a token of its own, and renewals compare the whole of it. An
// order that arrives late, when somebody else has come and gone, makes a key
// that no renewal will count.
type Lease struct {
	Nodes  int
	Orders int // how many tokens a client may use: one to enter, the others to heal
	Fault  LeaseFault
}

// A LeaseFault is an error built into a [Lease], to see that it is found.
type LeaseFault int

// The faults of a Lease.
const (
	Sound              LeaseFault = iota
	HealWithoutHolding            // no majority is asked for, neither before a healing nor when it is answered
	RenewForTheRun                // renewals compare the run id alone
	CountAnyHealing               // an answer to a healing counts when the majority is gone
)

// What is known between one tenant and one node in the current round.
const (
	silent = iota
	sent   // entering or renewing: on its way
	agreed // the answer is yes
)

type leaseLink struct {
	at     uint8
	member uint8 // the order whose key renewals ask for; 0: the node is not counted
	order  uint8 // the order on its way in this round, or answered
	done   bool  // the order was carried out; its answer is on its way
	late   uint8 // bit g: order g may still arrive, but its answer counts no more
}

type leaseNode struct {
	owner uint8 // 0 or key(tenant, order)
	links [maxTenants]leaseLink
}

// The phases of a tenant.
const (
	outside = iota
	entering
	inside
	renewing
	gone
)

type tenant struct {
	phase   uint8
	orders  uint8 // used so far
	overrun bool  // somebody else entered since
}

type leaseState struct {
	nodes   [maxNodes]leaseNode
	tenants [maxTenants]tenant
}

type emitLease = func(Step, leaseState, string)

// Check explores l and returns the number of its states, and a *model.Violation if
// the promise is broken.
func (l Lease) Check() (states int, err error) { return model.Search[leaseState, Step](l) }

func (l Lease) key(c int, order uint8) uint8 { return uint8(c*l.Orders) + order }

// owned is the order that made the key of tenant c at node n, or 0.
func (l Lease) owned(s *leaseState, c, n int) uint8 {
	if o := int(s.nodes[n].owner) - c*l.Orders; o > 0 && o <= l.Orders {
		return uint8(o)
	}
	return 0
}

func (l Lease) majority() int { return l.Nodes/2 + 1 }

// Initial implements [model.System].
func (l Lease) Initial() []leaseState { return []leaseState{{}} }

// Next implements [model.System].
func (l Lease) Next(s leaseState, out func(Step, leaseState, string)) {
	emit := func(step Step, next leaseState, broken string) { out(step, l.canonical(next), broken) }
	for n := range l.Nodes {
		if s.nodes[n].owner != 0 {
			next := s
			next.nodes[n].owner = 0
			emit(Step{"sees a lapse", 0, n, 0}, next, "")
		}
	}
	for c := range maxTenants {
		l.nextOf(s, c, emit)
		for n := range l.Nodes {
			l.arrive(s, c, n, emit)
			l.arriveLate(s, c, n, emit)
			l.answer(s, c, n, emit)
		}
	}
}

func (l Lease) canonical(s leaseState) leaseState {
	nodes := s.nodes[:l.Nodes]
	for i := 1; i < len(nodes); i++ {
		for j := i; j > 0 && nodes[j].rank() < nodes[j-1].rank(); j-- {
			nodes[j], nodes[j-1] = nodes[j-1], nodes[j]
		}
	}
	return s
}

// rank packs a node into a number; order and member are below 8.
func (n *leaseNode) rank() uint64 {
	r := uint64(n.owner)
	for _, k := range n.links {
		r = r<<2 | uint64(k.at)
		r = r<<3 | uint64(k.member)
		r = r<<3 | uint64(k.order)
		r = r<<8 | uint64(k.late)
		r <<= 1
		if k.done {
			r |= 1
		}
	}
	return r
}

func (l Lease) nextOf(s leaseState, c int, emit emitLease) {
	switch t := &s.tenants[c]; t.phase {
	case outside:
		t.phase, t.orders = entering, 1
		for n := range l.Nodes {
			s.nodes[n].links[c] = leaseLink{at: sent, order: 1}
		}
		emit(Step{"asks to enter", c, -1, 0}, s, "")
	case entering, renewing:
		l.conclude(s, c, emit)
		l.leave(s, c, emit)
	case inside:
		if c == keeper {
			l.beginRenewal(s, c, emit)
		}
		l.leave(s, c, emit)
	}
}

func (l Lease) leave(s leaseState, c int, emit emitLease) {
	s.tenants[c] = tenant{phase: gone}
	for n := range l.Nodes {
		k := &s.nodes[n].links[c]
		l.giveUp(k)
		k.at, k.member = silent, 0
	}
	emit(Step{"leaves", c, -1, 0}, s, "")
}

// giveUp lets the order of the round be one that arrives late, if at all.
func (l Lease) giveUp(k *leaseLink) {
	if k.order != 0 && !k.done {
		k.late |= 1 << k.order
	}
	k.order, k.done = 0, false
}

func (l Lease) beginRenewal(s leaseState, c int, emit emitLease) {
	s.tenants[c].phase = renewing
	for n := range l.Nodes {
		k := &s.nodes[n].links[c]
		l.giveUp(k)
		k.at = silent
		if k.member != 0 || l.Fault == RenewForTheRun {
			k.at = sent
		}
	}
	emit(Step{"begins a renewal", c, -1, 0}, s, "")
}

// arrive is what the network brings to node n in the round of tenant c.
func (l Lease) arrive(s leaseState, c, n int, emit emitLease) {
	t, node := &s.tenants[c], &s.nodes[n]
	k := &node.links[c]
	mine := l.owned(&s, c, n)
	switch {
	case t.phase == entering && k.at == sent && node.owner == 0:
		node.owner, k.at, k.done = l.key(c, 1), agreed, true
		emit(Step{"is let in", c, n, 0}, s, "")
	case t.phase == renewing && k.at == sent:
		k.at = silent
		if mine != 0 && (mine == k.member || l.Fault == RenewForTheRun) {
			k.at = agreed
			emit(Step{"is renewed", c, n, int(mine)}, s, "")
			return
		}
		k.member = 0
		emit(Step{"is not known", c, n, 0}, s, "")
	case t.phase == inside && k.order != 0 && !k.done && l.makes(&s, c, n, k.order):
		node.owner, k.done = l.key(c, k.order), true
		emit(Step{"is healed by order", c, n, int(k.order)}, s, "")
	}
}

// makes reports whether order g of tenant c makes a key at node n: where there
// is none, or an older one of its own.
func (l Lease) makes(s *leaseState, c, n int, g uint8) bool {
	mine := l.owned(s, c, n)
	return s.nodes[n].owner == 0 || mine != 0 && mine < g
}

func (l Lease) arriveLate(s leaseState, c, n int, emit emitLease) {
	late := s.nodes[n].links[c].late
	for g := uint8(1); int(g) <= l.Orders; g++ {
		if late>>g&1 == 1 && l.makes(&s, c, n, g) {
			next := s
			next.nodes[n].owner = l.key(c, g)
			next.nodes[n].links[c].late &^= 1 << g
			emit(Step{"is served late by order", c, n, int(g)}, next, "")
		}
	}
}

// answer brings tenant c the answer that node n was healed, or that it was
// entered after the entry was decided.
func (l Lease) answer(s leaseState, c, n int, emit emitLease) {
	k := &s.nodes[n].links[c]
	if s.tenants[c].phase != inside || !k.done {
		return
	}
	blind := l.Fault == HealWithoutHolding || l.Fault == CountAnyHealing
	if !blind && l.locked(&s, c) < l.majority() {
		return
	}
	k.member, k.order, k.done = k.order, 0, false
	emit(Step{"counts from now on order", c, n, int(k.member)}, s, "")
}

// locked is how many of the nodes that agreed in the round are locked for c.
func (l Lease) locked(s *leaseState, c int) int {
	count := 0
	for n := range l.Nodes {
		k := s.nodes[n].links[c]
		mine := l.owned(s, c, n)
		if k.at == agreed && mine != 0 && (mine == k.member || l.Fault == RenewForTheRun) {
			count++
		}
	}
	return count
}

// conclude ends the round of tenant c with any of the answers that are there.
func (l Lease) conclude(s leaseState, c int, emit emitLease) {
	var yes []int
	for n := range l.Nodes {
		if s.nodes[n].links[c].at == agreed {
			yes = append(yes, n)
		}
	}
	for lost := range 1 << len(yes) {
		next := s
		for i, n := range yes {
			if lost>>i&1 == 1 {
				next.nodes[n].links[c].at = silent
			}
		}
		if s.tenants[c].phase == entering {
			l.enter(next, c, emit)
		} else {
			l.renewed(next, c, emit)
		}
	}
}

func (l Lease) enter(s leaseState, c int, emit emitLease) {
	for n := range l.Nodes {
		k := &s.nodes[n].links[c]
		if k.at == agreed {
			k.member, k.order, k.done = 1, 0, false
		} else {
			k.at = silent
		}
	}
	if l.locked(&s, c) < l.majority() {
		return
	}
	s.tenants[c].phase = inside
	if k := &s.tenants[keeper]; c != keeper && (k.phase == inside || k.phase == renewing) {
		k.overrun = true
	}
	emit(Step{"enters", c, -1, 0}, s, "")
}

func (l Lease) renewed(s leaseState, c int, emit emitLease) {
	t := &s.tenants[c]
	t.phase = inside
	yes, broken := 0, ""
	for n := range l.Nodes {
		if k := &s.nodes[n].links[c]; k.at == agreed {
			yes++
		} else {
			k.at = silent
		}
	}
	if t.overrun && l.locked(&s, c) >= l.majority() {
		broken = "a renewal says held, and somebody else was inside since"
	}
	if yes >= l.majority() || l.Fault == HealWithoutHolding {
		l.heal(&s, c)
	}
	emit(Step{"ends the renewal, granted by", c, -1, yes}, s, broken)
}

// heal sends a new order to every node that is not counted.
func (l Lease) heal(s *leaseState, c int) {
	t := &s.tenants[c]
	if int(t.orders) == l.Orders {
		return
	}
	t.orders++
	for n := range l.Nodes {
		if k := &s.nodes[n].links[c]; k.member == 0 {
			k.order, k.done = t.orders, false
		}
	}
}
