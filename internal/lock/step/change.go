package step

import (
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// A ChangeReply is the answer of an operator's step:
//
//	{code, pttl, record, pause, now, ran, next, entry, ends}   the state: the holder before, the pause,
//
// whether the job has ever run, the first waiter, and the ended pauses of which some master does not know
//
//	{-1, n, type}      the n-th key is something else
//
// where code is one of those below, or that of a [lock.Objection].
type ChangeReply struct {
	Code  int64
	Left  int64  // what PTTL says of the lock, before
	Held  string // the value of the lock before, of any bytes
	Pause string // the value of the pause
	Now   int64  // the server's clock, ms
	Ran   bool   // the job has run, as far as its fence remembers
	Next  string // on one server: the first waiter; "" if there is none
	Entry string // what is known of it
	Ends  string // at a master of a quorum: which pauses have ended without some master
	Key   int    // of Wrong: which one, from 0 on
	Kind  string // of Wrong: its type; "" if the user may not see it
}

// The codes of a ChangeReply.
const (
	Nothing = 0 // there was nothing to do it to
	Changed = 1
	Already = 2
	RunOver = 3 // the run has ended
	Wrong   = -1
)

func readChange(r *link.Reply) (c ChangeReply) {
	c.Code = r.Code()
	switch {
	case c.Code == Wrong:
		c.Key, c.Kind = int(r.Number(1, wire.KeyCount)-1), r.Text()
	case lock.ObjectionOf(c.Code) != 0 || c.Code >= Nothing && c.Code <= RunOver:
		c.Left, c.Held, c.Pause, c.Now = r.Whole(-2), r.Text(), r.Text(), r.Whole(0)
		c.Ran = r.Number(0, 1) == 1
		c.Next, c.Entry, c.Ends = r.Text(), r.Text(), r.Text()
	default:
		r.Strange()
	}
	return c
}
