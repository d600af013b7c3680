package line

import (
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// A changeReply is what an operator's step answers:
//
//	{code, pttl, record, pause, now, run, entry, ran}   how things are: who had the lock before, the pause, who is first
//	                                                    in line, and whether the job has ever run
//	{-1, n, type}                                       the n-th key is something else
//
// where code is one of those below, or that of a [lock.Objection].
type changeReply struct {
	code  int64
	left  int64  // what PTTL says of the lock, before
	held  string // the value of the lock before, of any bytes
	pause string // the value of the pause
	now   int64  // the server's clock, ms
	next  string // the first in line; "" if nobody waits
	entry string // what is known of it
	ran   bool   // the job has run, as far as its fence remembers
	key   int    // of wrong: which one, from 0 on
	what  string // of wrong: its type
}

// The codes of a changeReply.
const (
	nothing = 0 // there was nothing to do it to
	changed = 1
	already = 2
	over    = 3 // the run has ended
	wrong   = -1
)

func readChange(r *link.Reply) (c changeReply) {
	c.code = r.Code()
	switch {
	case c.code == wrong:
		c.key, c.what = int(r.Number(1, mostKeys)-1), r.Text()
	case lock.ObjectionOf(c.code) != 0 || c.code >= nothing && c.code <= over:
		c.left, c.held, c.pause, c.now = r.Whole(-2), r.Text(), r.Text(), r.Whole(0)
		c.next, c.entry, c.ran = r.Text(), r.Text(), r.Number(0, 1) == 1
	default:
		r.Strange()
	}
	return c
}
