// Package fencemodel explores two protocols of the quorum exhaustively: how a
// fencing token is agreed upon ([Fence]), and how a lease is renewed and healed
// ([Lease]). Nothing imports it; its tests are the point of it.
//
// Neither model knows clocks. A lock may lapse at any instant, a message may
// arrive at any later time or never, a reply may be lost, a client may pause
// between any two of its steps. What holds in the models therefore holds
// whatever the clocks, the network and the scheduler do.
package fencemodel

import (
	"fmt"
	"strings"
)

// A Step names one transition, for the trace of a counterexample.
type Step struct {
	What   string
	Client int
	Node   int // -1 if the step concerns no single node
	Value  int
}

func (s Step) String() string {
	if s.Node < 0 {
		return fmt.Sprintf("client %d %s %d", s.Client, s.What, s.Value)
	}
	return fmt.Sprintf("client %d %s %d at node %d", s.Client, s.What, s.Value, s.Node)
}

// A Violation is a shortest way to a broken promise. Nodes are interchangeable
// and are sorted after each step, so that a number names a node for one step only.
type Violation struct {
	Promise string
	Trace   []Step
}

func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, in %d steps:", v.Promise, len(v.Trace))
	for i, s := range v.Trace {
		fmt.Fprintf(&b, "\n%3d. %s", i+1, s)
	}
	return b.String()
}

// A system lists the states that can follow one: for each it calls emit, with a
// broken promise or "".
type system[S comparable] interface {
	initial() []S
	next(s S, emit func(step Step, next S, broken string))
}

type origin struct {
	from int32
	step Step
}

// search visits every state that can be reached, breadth first, and returns
// their number, and a *Violation if a promise is broken on the way.
func search[S comparable](sys system[S]) (states int, err error) {
	seen := make(map[S]struct{})
	var queue []S
	var origins []origin
	var found *Violation
	visit := func(s S, from int32, step Step) {
		if _, ok := seen[s]; ok {
			return
		}
		seen[s] = struct{}{}
		queue = append(queue, s)
		origins = append(origins, origin{from, step})
	}
	for _, s := range sys.initial() {
		visit(s, -1, Step{})
	}
	for i := 0; i < len(queue) && found == nil; i++ {
		sys.next(queue[i], func(step Step, next S, broken string) {
			if broken != "" && found == nil {
				found = &Violation{Promise: broken, Trace: append(trace(origins, int32(i)), step)}
			}
			visit(next, int32(i), step)
		})
	}
	if found != nil {
		return len(seen), found
	}
	return len(seen), nil
}

// trace is the way from an initial state to state i.
func trace(origins []origin, i int32) []Step {
	if origins[i].from < 0 {
		return nil
	}
	return append(trace(origins, origins[i].from), origins[i].step)
}
