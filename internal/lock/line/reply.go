package line

import (
	"math"
	"time"

	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// What the steps answer. This is where the format of their replies is said; a reply in any
// other is an error, after which nobody knows whose the lock is. Instants are the server's
// clock, in ms; it is 0 where scripts are told no time.

// A hold says that this run has the lock.
type hold struct {
	fence int64 // of the acquisition
	at    int64 // when the lock was taken
	now   int64 // when the server answered
	list  listing
	stop  bool // an operator wants the run to end
}

// A listing is what is to be done to the set of names, which the step could not reach.
type listing int

const (
	unlisted listing = iota // nothing
	listDue                 // the job is to be put there
	listLost                // it was put there today: only if the set has lost it
)

// A busy says that another has the lock.
type busy struct {
	left   time.Duration // of its lease; negative: it never expires by itself
	record string        // the value, of any bytes; at most its first 1 KiB
	now    int64         // when the server answered
}

// An acquireReply is what the acquire step answers:
//
//	{1, fence, at, now, list, stop} taken now; not with once for 2 s, to be confirmed
//	{2, fence, at, now, list, stop} taken before, by this run
//	{0, pttl, record, now}    busy, and this run does not wait
//	{0, pttl, record, place, listeners, joined, now}   busy, and this run waits
//	{3, pttl, record, now}    busy, and as many wait as may
//	{4}                       this run has been given up
//	{6, state}                the work of the slot is done
//	{7, state}                the tries of the slot are used up
//	{-1, n, type}             the n-th key is something else; type is '' if nobody may know
//	{-2}                      the fence is no number below 2^53
//	{-3, protocol}            only that protocol and later ones may touch the lock
type acquireReply struct {
	kind     acquireKind
	hold     hold     // of granted and confirmed
	busy     busy     // of refused, queued and full
	position position // of queued
	slot     string   // of done and spent: the state of the slot, of any bytes
	key      int      // of wrongKey: which one, from 0 on
	what     string   // of wrongKey: its type
	protocol int      // of newer
}

type acquireKind int

const (
	_ acquireKind = iota
	granted
	confirmed
	refused
	queued
	full
	revoked
	slotDone
	exhausted
	wrongKey
	wrongFence
	newer
)

// A position is where a run stands in line.
type position struct {
	place     int   // from 1 on
	listeners int64 // how many connections listen for this run; -1: there are no messages here
	joined    bool  // it is new in line
}

func readAcquire(r *link.Reply) (a acquireReply) {
	switch code := r.Code(); {
	case code == 1:
		a.kind, a.hold = granted, readHold(r)
	case code == 2:
		a.kind, a.hold = confirmed, readHold(r)
	case code == 0 && r.Len() == 3:
		a.kind, a.busy = refused, readBusy(r)
	case code == 0:
		a.kind = queued
		a.busy, a.position = readQueued(r)
	case code == 3:
		a.kind, a.busy = full, readBusy(r)
	case code == 4:
		a.kind = revoked
	case code == 6:
		a.kind, a.slot = slotDone, r.Text()
	case code == 7:
		a.kind, a.slot = exhausted, r.Text()
	case code == -1:
		a.kind, a.key, a.what = wrongKey, int(r.Number(1, wire.KeyCount)-1), r.Text()
	case code == -2:
		a.kind = wrongFence
	case code == -3:
		a.kind, a.protocol = newer, int(r.Number(wire.Protocol+1, wire.MostProtocol))
	default:
		r.Strange()
	}
	return a
}

func readHold(r *link.Reply) hold {
	return hold{fence: r.Whole(1), at: r.Whole(0), now: r.Whole(0), list: listing(r.Number(0, 2)),
		stop: r.Number(0, 1) == 1}
}

func readBusy(r *link.Reply) busy {
	return busy{left: r.Left(), record: r.Text(), now: r.Whole(0)}
}

func readQueued(r *link.Reply) (b busy, s position) {
	b.left, b.record = r.Left(), r.Text()
	s.place, s.listeners, s.joined = int(r.Number(1, math.MaxInt32)), r.Number(-1, math.MaxInt32), r.Number(0, 1) == 1
	b.now = r.Whole(0)
	return b, s
}

// A confirmReply is what the confirm step answers:
//
//	{2, fence, at, now, list, stop}   this run has the lock, since at
//	{0}                         it has not; the acquire step tells why
//	{-1, n, type}               the n-th key is something else
type confirmReply struct {
	ours  bool
	hold  hold
	wrong bool
	key   int    // of wrong: which one, from 0 on
	what  string // of wrong: its type
}

func readConfirm(r *link.Reply) (c confirmReply) {
	switch r.Code() {
	case 2:
		c.ours, c.hold = true, readHold(r)
	case -1:
		c.wrong, c.key, c.what = true, int(r.Number(1, wire.KeyCount)-1), r.Text()
	case 0:
	default:
		r.Strange()
	}
	return c
}

// A renewReply is what the renew step answers:
//
//	{Own, now, stop}   this run has the lock
//	{Others}           another has it, or this run has ended
//	{Free}             nobody has it
type renewReply struct {
	owner wire.Ownership
	now   int64 // of Own
	stop  bool  // of Own: an operator wants the run to end
}

func readRenew(r *link.Reply) (n renewReply) {
	switch n.owner = wire.Ownership(r.Code()); n.owner {
	case wire.Own:
		n.now, n.stop = r.Whole(0), r.Number(0, 1) == 1
	case wire.Others, wire.Free:
	default:
		r.Strange()
	}
	return n
}

// A releaseReply is what the release step answers:
//
//	{Own}    this run had the lock, or has released it before
//	{Others, pttl, record, now}   another has it
//	{Free}   nobody has it
//	{-1, n, type}   the n-th key is something else: the slot could not be written, and the lock is as it was
type releaseReply struct {
	owner wire.Ownership
	busy  busy // of Others
	wrong bool
	key   int    // of wrong: which one, from 0 on
	what  string // of wrong: its type
}

func readRelease(r *link.Reply) (l releaseReply) {
	switch code := r.Code(); code {
	case -1:
		l.wrong, l.key, l.what = true, int(r.Number(1, wire.KeyCount)-1), r.Text()
	case int64(wire.Own), int64(wire.Free):
		l.owner = wire.Ownership(code)
	case int64(wire.Others):
		l.owner, l.busy = wire.Others, readBusy(r)
	default:
		r.Strange()
	}
	return l
}
