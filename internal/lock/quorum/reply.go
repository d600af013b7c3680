package quorum

import (
	"encoding/json"
	"math"
	"time"

	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// What a master's steps answer. This is where the format of their replies is said; a reply
// in any other is an error, after which nobody knows whose the lock is at that master.

// A grantReply is what the grant step answers:
//
//	{1, fence, server, ends, slot, unconfirmed}   granted; server is the id of the process, or '';
//	                         which pauses have ended without some master, what was known of
//	                         the slot, and a line for each run in doubt
//	{1, fence, server, ends} granted to a run that has no slot and is not entered
//	{0, pttl, record, now, slot, unconfirmed}   busy: what is left of the key, its value of any
//	                         bytes, of which at most 1 KiB, and the server's clock in ms
//	{0, pttl, record, now}   busy, for a run that has no slot and is not entered
//	{2}                      granted before to the same term, as another master
//	{4}                      this term has been given up
//	{5, n}                   the server does not vote for another n seconds
//	{6, slot}                the work of the slot is done
//	{-1, n, type}            the n-th key is no string; type is '' if nobody may know
//	{-2}                     the fence is no number below 2^53
//	{-3, protocol}           only that protocol and later ones may touch the lock
type grantReply struct {
	kind        voteKind      // never silent
	fence       int64         // of granted
	server      string        // of granted
	ends        string        // of granted: as lock.ReadPauseEnds has it; may be empty
	left        time.Duration // of refused; negative: the key never expires by itself
	record      string        // of refused
	now         int64         // of refused
	slot        string        // of granted, refused and closed; may be empty
	unconfirmed string        // of granted and refused; may be empty
	wait        time.Duration // of abstained
	wrong       wrongKey      // of notLock

	protocol int // of newer
}

// A wrongKey is a key in whose place something else stands.
type wrongKey struct {
	at   int    // which one, from 0 on
	kind string // its type; "" if nobody may know
	full bool   // it is the fence, which counts no further
}

func readGrant(r *link.Reply) (g grantReply) {
	switch code := r.Code(); code {
	case 1:
		g.kind, g.fence, g.server, g.ends = granted, r.Whole(1), r.Text(), r.Text()
		if r.Len() > 0 {
			g.slot, g.unconfirmed = r.Text(), r.Text()
		}
	case 0:
		g.kind, g.left, g.record, g.now = refused, r.Left(), r.Text(), r.Whole(0)
		if r.Len() > 0 {
			g.slot, g.unconfirmed = r.Text(), r.Text()
		}
	case 2:
		g.kind = duplicate
	case 4:
		g.kind = revoked
	case 5:
		g.kind, g.wait = abstained, time.Duration(r.Number(1, math.MaxInt32))*time.Second
	case 6:
		g.kind, g.slot = closed, r.Text()
	case -1, -2:
		g.kind, g.wrong = notLock, readWrongKey(code, r)
	case -3:
		g.kind, g.protocol = newer, readFloor(r)
	default:
		r.Strange()
	}
	return g
}

// readWrongKey reads what comes after the code of {-1, n, type} and {-2}.
func readWrongKey(code int64, r *link.Reply) wrongKey {
	if code == -2 {
		return wrongKey{at: 1, full: true}
	}
	return wrongKey{at: int(r.Number(1, wire.KeyCount) - 1), kind: r.Text()}
}

// readFloor reads what comes after the code of {-3, protocol}.
func readFloor(r *link.Reply) int { return int(r.Number(wire.Protocol+1, wire.MostProtocol)) }

// owner names the holder in a value and the round in which it took the lock: a majority
// that says the same belongs to it. Pauses are all one: whoever wants them, nobody starts.
func owner(record string) string {
	if wire.ReadPause(record) != nil {
		return byPause
	}
	var term struct{ Run, Vote string }
	if len(record) > wire.RecordMax || json.Unmarshal([]byte(record), &term) != nil || len(term.Vote) < 8 {
		return record
	}
	return term.Run + term.Vote[:8]
}

// readBump reads whether the bump step was done:
//
//	{1}             the fence is at least that, and was bumped while the lock was this term's
//	{0}             the lock is this term's no more
//	{-1, n, type}   the n-th key is no string
//	{-2}            the fence is no number below 2^53
//	{-3, protocol}  only that protocol and later ones may touch the lock
func readBump(r *link.Reply) (done bool) {
	switch code := r.Code(); code {
	case 1:
		return true
	case 0:
	case -1, -2:
		readWrongKey(code, r)
	case -3:
		readFloor(r)
	default:
		r.Strange()
	}
	return false
}

// A renewReply is what the renew step answers:
//
//	{Own, stop}   the lock is the term's; stop is 1 if an operator wants its run to end, else 0
//	{Others}      another has it, or it is something else
//	{OwnOlder}, {OwnNewer}, {Free}
type renewReply struct {
	owner wire.Ownership
	stop  bool // of Own
}

func readRenew(r *link.Reply) (n renewReply) {
	if n.owner = readOwnership(r.Code(), r); n.owner == wire.Own {
		n.stop = r.Number(0, 1) == 1
	}
	return n
}

// readRepair reads whose the lock is by the repair step:
//
//	{Own}           the term's
//	{Others}        another has it
//	{OwnNewer}      this term has been given up
//	{-1, n, type}   the n-th key is no string
//	{-2}            the fence is no number below 2^53
//	{-3, protocol}  only that protocol and later ones may touch the lock
func readRepair(r *link.Reply) wire.Ownership {
	switch code := r.Code(); code {
	case -1, -2:
		readWrongKey(code, r)
	case -3:
		readFloor(r)
	default:
		return readOwnership(code, r)
	}
	return wire.Free
}

// readRelease reads whose the lock was by the release step:
//
//	{Own}        a term's of this run
//	{Others}     another has it, or it is something else
//	{Free}       nobody has it
//	{OwnNewer}   a later term of this run has it
func readRelease(r *link.Reply) wire.Ownership { return readOwnership(r.Code(), r) }

func readOwnership(code int64, r *link.Reply) wire.Ownership {
	if code < int64(wire.Own) || code > int64(wire.Others) {
		r.Strange()
		return wire.Unanswered
	}
	return wire.Ownership(code)
}
