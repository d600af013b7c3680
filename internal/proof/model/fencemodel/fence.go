package fencemodel

import (
	"cmp"

	"redlockrun/internal/proof/model"
)

const (
	maxNodes   = 5
	maxClients = 3
	maxRounds  = 2
)

// A Fence is the agreement on a fencing token over independent nodes, in one
// size. In a round a client asks every node for the lock with the reading of
// its own clock; a node that is free sets its counter to max(counter+1,
// reading) and answers with it. The token is the maximum over the answers that
// the client counted. Before it is used, a majority must have acknowledged it:
// counted nodes that answered exactly the token, and counted nodes that raised
// their counter while their lock was still of this run and this round.
//
// Promised, whatever happens:
//
//   - no token is used twice;
//   - a token is larger than every one whose use began before its round did;
//   - if a majority of the nodes that acknowledged a token are still locked for
//     it when its use begins, it is larger than every one used before.
//
// What an undo, a release and a node that restarts with its counter do is a
// lapse, and lapses happen at any instant here. An answer "busy" lets a client
// do nothing that a lost answer does not.
type Fence struct {
	Nodes    int
	Rounds   []int   // how many each client makes
	Clocks   []uint8 // what a client's clock may show when a round begins
	Counters []uint8 // of the nodes, at first
	Heal     bool    // a client that used its token may lock a free node again
	Fault    Fault
}

// A Fault is an error built into a model, to see that it is found.
type Fault int

// The faults of a Fence.
const (
	None             Fault = iota
	RaiseBlindly           // raising does not look at the lock
	RaiseForTheRun         // raising looks at the run id alone, not at the round
	RaiseUncounted         // nodes whose answer did not count in the token may acknowledge it
	UseUnraised            // the token is used without a majority's acknowledgement
	CountLateVotes         // an answer to a round that was given up counts in the next
	ForgetCounters         // a node that restarts loses its counter
	AcknowledgeLower       // an answer below the token counts as an acknowledgement
)

// What is known between one client and one node about the client's round.
const (
	nothing  = iota
	asked    // the question is on its way
	granted  // the node is locked for the round; the answer is on its way
	raising  // counted, and the order to raise is on its way
	complied // counted, and acknowledged
)

type link struct {
	at    uint8
	value uint8 // of granted: the answer
	asks  uint8 // bit r: the question of round r, which was given up, may still arrive
	raise uint8 // bit r: the order to raise of round r, which was given up, may still arrive
}

type fenceNode struct {
	counter uint8
	owner   uint8 // 0 or name(client, round)
	links   [maxClients]link
}

// The phases of a client.
const (
	idle = iota
	asking
	agreeing
)

type fenceClient struct {
	phase uint8
	round uint8
	floor uint8            // the largest token in use when the round began
	clock [maxRounds]uint8 // as read when the round began
	token [maxRounds]uint8
	used  uint8 // bit r: the token of round r was used
}

type fenceState struct {
	nodes   [maxNodes]fenceNode
	clients [maxClients]fenceClient
	used    uint32 // bit t: token t was used
}

// Check explores f and returns the number of its states, and a *model.Violation if a
// promise is broken.
func (f Fence) Check() (states int, err error) { return model.Search[fenceState, Step](f) }

func name(client, round int) uint8 { return uint8(client*maxRounds + round + 1) }

func (f Fence) majority() int { return f.Nodes/2 + 1 }

// Initial implements [model.System].
func (f Fence) Initial() []fenceState {
	var s fenceState
	for n, c := range f.Counters {
		s.nodes[n].counter = c
	}
	return []fenceState{f.canonical(s)}
}

// canonical sorts the nodes: no promise depends on which is which.
func (f Fence) canonical(s fenceState) fenceState {
	nodes := s.nodes[:f.Nodes]
	for i := 1; i < len(nodes); i++ {
		for j := i; j > 0 && compareNodes(&nodes[j], &nodes[j-1]) < 0; j-- {
			nodes[j], nodes[j-1] = nodes[j-1], nodes[j]
		}
	}
	return s
}

func compareNodes(a, b *fenceNode) int {
	if c := cmp.Or(cmp.Compare(a.counter, b.counter), cmp.Compare(a.owner, b.owner)); c != 0 {
		return c
	}
	for i := range a.links {
		x, y := a.links[i], b.links[i]
		c := cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.value, y.value),
			cmp.Compare(x.asks, y.asks), cmp.Compare(x.raise, y.raise))
		if c != 0 {
			return c
		}
	}
	return 0
}

// Next implements [model.System].
func (f Fence) Next(s fenceState, out func(Step, fenceState, string)) {
	emit := func(step Step, next fenceState, broken string) { out(step, f.canonical(next), broken) }
	for n := range f.Nodes {
		f.lapse(s, n, emit)
	}
	for c := range f.Rounds {
		switch s.clients[c].phase {
		case idle:
			f.begin(s, c, emit)
		case asking:
			f.decide(s, c, emit)
			f.giveUp(s, c, emit)
		case agreeing:
			f.use(s, c, emit)
			f.giveUp(s, c, emit)
		}
		for n := range f.Nodes {
			f.arrive(s, c, n, emit)
			f.arriveLate(s, c, n, emit)
			f.heal(s, c, n, emit)
		}
	}
}

type emitFence = func(Step, fenceState, string)

func (f Fence) lapse(s fenceState, n int, emit emitFence) {
	if f.Fault == ForgetCounters && s.nodes[n].counter != 0 {
		forgot := s
		forgot.nodes[n].counter, forgot.nodes[n].owner = 0, 0
		emit(Step{"sees all forgotten", 0, n, 0}, forgot, "")
	}
	if s.nodes[n].owner != 0 {
		s.nodes[n].owner = 0
		emit(Step{"sees a lapse", 0, n, 0}, s, "")
	}
}

func (f Fence) begin(s fenceState, c int, emit emitFence) {
	client := &s.clients[c]
	if int(client.round) == f.Rounds[c] {
		return
	}
	client.phase, client.floor = asking, highest(s.used)
	for n := range f.Nodes {
		if l := &s.nodes[n].links[c]; l.at != granted {
			l.at, l.value = asked, 0
		}
	}
	for _, now := range f.Clocks {
		client.clock[client.round] = now
		emit(Step{"begins a round at clock", c, -1, int(now)}, s, "")
	}
}

// arrive is what the network brings to node n for the round that client c is in.
func (f Fence) arrive(s fenceState, c, n int, emit emitFence) {
	client, node := &s.clients[c], &s.nodes[n]
	l, me := &node.links[c], name(c, int(client.round))
	switch {
	case l.at == asked && node.owner == 0:
		node.owner = me
		node.counter = max(node.counter+1, client.clock[client.round])
		l.at, l.value = granted, node.counter
		emit(Step{"is granted", c, n, int(l.value)}, s, "")
	case l.at == raising && f.mayRaise(node.owner, c, me):
		node.counter = max(node.counter, client.token[client.round])
		l.at, l.value = complied, 0
		emit(Step{"has raised", c, n, int(node.counter)}, s, "")
	}
}

func (f Fence) mayRaise(owner uint8, c int, me uint8) bool {
	switch f.Fault {
	case RaiseBlindly:
		return true
	case RaiseForTheRun:
		return owner != 0 && int(owner-1)/maxRounds == c
	}
	return owner == me
}

// arriveLate is what the network brings to node n for rounds that client c has
// left.
func (f Fence) arriveLate(s fenceState, c, n int, emit emitFence) {
	node := s.nodes[n]
	l := node.links[c]
	for r := range maxRounds {
		bit, me := uint8(1)<<r, name(c, r)
		if l.asks&bit != 0 && node.owner == 0 {
			next := s
			next.nodes[n].owner = me
			next.nodes[n].counter = max(node.counter+1, s.clients[c].clock[r])
			next.nodes[n].links[c].asks &^= bit
			emit(Step{"is granted late for round", c, n, r}, next, "")
		}
		if l.raise&bit != 0 && f.mayRaise(node.owner, c, me) {
			next := s
			next.nodes[n].counter = max(node.counter, s.clients[c].token[r])
			next.nodes[n].links[c].raise &^= bit
			emit(Step{"has raised late for round", c, n, r}, next, "")
		}
	}
}

// decide lets client c count any majority of the answers that are there.
func (f Fence) decide(s fenceState, c int, emit emitFence) {
	var grants []int
	for n := range f.Nodes {
		if s.nodes[n].links[c].at == granted {
			grants = append(grants, n)
		}
	}
	for set := range 1 << len(grants) {
		if bits(set) >= f.majority() {
			next, token := f.count(s, c, grants, set)
			emit(Step{"counts answers, token", c, -1, int(token)}, next, "")
		}
	}
}

func (f Fence) count(s fenceState, c int, grants []int, set int) (fenceState, uint8) {
	client := &s.clients[c]
	var token uint8
	for i, n := range grants {
		if set>>i&1 == 1 {
			token = max(token, s.nodes[n].links[c].value)
		}
	}
	for i, n := range grants {
		l := &s.nodes[n].links[c]
		switch {
		case set>>i&1 == 0 && f.Fault != RaiseUncounted:
			l.at = nothing
		case l.value == token, f.Fault == AcknowledgeLower:
			l.at = complied
		default:
			l.at = raising
		}
		l.value = 0
	}
	for n := range f.Nodes {
		if l := &s.nodes[n].links[c]; l.at == asked {
			l.at, l.asks = nothing, l.asks|1<<client.round
		}
	}
	client.phase, client.token[client.round] = agreeing, token
	return s, token
}

func (f Fence) use(s fenceState, c int, emit emitFence) {
	client := &s.clients[c]
	token, me := client.token[client.round], name(c, int(client.round))
	acknowledged, locked := 0, 0
	for n := range f.Nodes {
		if s.nodes[n].links[c].at == complied {
			acknowledged++
			if s.nodes[n].owner == me {
				locked++
			}
		}
	}
	if acknowledged < f.majority() && f.Fault != UseUnraised {
		return
	}
	broken := ""
	switch {
	case s.used>>token&1 == 1:
		broken = "a token is used twice"
	case token <= client.floor:
		broken = "a token is not larger than one used before its round began"
	case locked >= f.majority() && token < highest(s.used):
		broken = "the holder of a majority has a smaller token than one used before"
	}
	s.used |= 1 << token
	client.used |= 1 << client.round
	emit(Step{"uses token", c, -1, int(token)}, f.leave(s, c), broken)
}

func (f Fence) giveUp(s fenceState, c int, emit emitFence) {
	emit(Step{"gives up round", c, -1, int(s.clients[c].round)}, f.leave(s, c), "")
}

// leave ends the round of client c: what is on its way may still arrive, but
// its answer counts no more.
func (f Fence) leave(s fenceState, c int) fenceState {
	client := &s.clients[c]
	bit := uint8(1) << client.round
	for n := range f.Nodes {
		l := &s.nodes[n].links[c]
		switch {
		case l.at == asked:
			l.asks |= bit
		case l.at == raising:
			l.raise |= bit
		case l.at == granted && f.Fault == CountLateVotes:
			continue
		}
		l.at, l.value = nothing, 0
	}
	client.phase, client.floor = idle, 0
	client.round++
	return s
}

// heal lets a client that once used its token lock a free node for that round
// again, at any time: the order may have been on its way for long.
func (f Fence) heal(s fenceState, c, n int, emit emitFence) {
	client, node := s.clients[c], &s.nodes[n]
	if node.owner != 0 || !f.Heal {
		return
	}
	before := node.counter
	for r := range maxRounds {
		if client.used>>r&1 == 1 {
			node.owner, node.counter = name(c, r), max(before, client.token[r])
			emit(Step{"heals with token", c, n, int(client.token[r])}, s, "")
		}
	}
}

func highest(set uint32) uint8 {
	var top uint8
	for t := range uint8(32) {
		if set>>t&1 == 1 {
			top = t
		}
	}
	return top
}

func bits(set int) int {
	n := 0
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}
