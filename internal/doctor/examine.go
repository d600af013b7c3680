package doctor

import (
	"context"
	"slices"
	"sync"
	"time"

	"redlockrun/internal/lock"
)

// An Examination says what to check. Examine does not change it.
type Examination struct {
	Servers    lock.Servers
	Peers      []Peer        // in the order of the URLs; they are closed by Examine
	Incomplete []Finding     // why there may be more servers than these
	Limit      time.Duration // of one question
	Ear        time.Duration // how long a message may take
	Times      lock.Times    // of the leases that these servers give
	Store      lock.Store    // the same servers as runs use them; nil: nothing is rehearsed
	Host       Host          // nil: little is said of it
}

// A check looks at one peer.
type check struct {
	roles    []Role // of the peers that it is for; nil: all
	decisive bool   // when it has failed, those after it would only say so again
	look     func(context.Context, *visit) []Finding
}

// A survey looks at all peers together, when each has been looked at by itself. Those that
// could not be reached are not among the visits.
type survey func(ctx context.Context, e *Examination, visits []*visit) []Finding

// checks are those of each peer, in their order.
func checks() []check {
	keeps := []Role{Keeper, Node}
	return []check{
		{look: checkAddress, decisive: true},
		{look: checkPassword, decisive: true},
		{look: checkVersion, decisive: true},
		{look: checkRights, roles: keeps},
		{look: checkMessages, roles: keeps},
		{look: checkReplicas, roles: []Role{Keeper}},
		{look: checkRoundTrip, roles: keeps},
		{look: checkClock, roles: keeps},
		{look: checkScriptTime, roles: keeps},
		{look: checkEviction, roles: keeps},
		{look: checkPersistence, roles: keeps},
		{look: askMaster, roles: []Role{Keeper}},
		{look: askNode, roles: []Role{Node}},
		{look: askSentinel, roles: []Role{Sentinel}},
	}
}

// surveys returns the checks of all peers together, in their order.
func surveys() []survey {
	return []survey{surveyMaster, surveyCluster, surveyQuorum, rehearse, checkHost}
}

// Examine makes all checks, of all peers at once. The findings are in the order of the peers,
// and those about all of them come last.
func (e *Examination) Examine(ctx context.Context) (found []Finding) {
	var all sync.WaitGroup
	visits := make([]*visit, len(e.Peers))
	for i, peer := range e.Peers {
		visits[i] = &visit{Peer: peer, Examination: e}
		defer visits[i].Close()
		all.Go(func() { visits[i].examine(ctx) })
	}
	all.Wait()
	for _, v := range visits {
		found = append(found, v.found...)
	}
	found = append(found, e.Incomplete...)
	reached := slices.DeleteFunc(visits, func(v *visit) bool { return !v.reached })
	for _, look := range surveys() {
		found = append(found, look(ctx, e, reached)...)
	}
	return found
}

// examine makes the checks of a peer, until nothing more can be learned.
func (v *visit) examine(ctx context.Context) {
	for _, c := range checks() {
		if c.roles != nil && !slices.Contains(c.roles, v.Role) {
			continue
		}
		came := c.look(ctx, v)
		v.found = append(v.found, came...)
		if c.decisive && Status(came) == 2 {
			return
		}
	}
	v.reached = true
}
