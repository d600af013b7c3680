// Package fencemodel explores two protocols of the quorum exhaustively: how a
// fencing token is agreed upon ([Fence]), and how a lease is renewed and healed
// ([Lease]). Nothing imports it; its tests are the point of it.
//
// Neither model knows clocks. A lock may lapse at any instant, a message may
// arrive at any later time or never, a reply may be lost, a client may pause
// between any two of its steps. What holds in the models therefore holds
// whatever the clocks, the network and the scheduler do.
package fencemodel

import "fmt"

// A Step names one transition, for the trace of a counterexample. Nodes are
// interchangeable and are sorted after each step, so that a number names a node
// for one step only.
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
