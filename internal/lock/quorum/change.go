package quorum

import (
	_ "embed"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/ledger"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// The steps of an operator, each atomic at one master, and each one that may be repeated.
var (
	//go:embed operate.lua
	operateLua string
	//go:embed look.lua
	lookLua string
	//go:embed pause.lua
	pauseLua string
	//go:embed resume.lua
	resumeLua string
	//go:embed end.lua
	endLua string
	//go:embed stop.lua
	stopLua string
	//go:embed unlock.lua
	unlockLua string
	//go:embed forget.lua
	forgetLua string
)

const (
	looking lock.Act = "look" // the step that changes nothing
	noting  lock.Act = "note" // the step that notes which pauses have ended
)

// changeStep is an operator's step for one act.
func changeStep(act lock.Act) link.Script[changeReply] {
	text := map[lock.Act]*string{
		looking: &lookLua, lock.ActPause: &pauseLua, lock.ActResume: &resumeLua, noting: &endLua, lock.ActStop: &stopLua,
		lock.ActUnlock: &unlockLua,
		lock.ActForget: &forgetLua,
	}[act]
	return link.NewScript("GETRANGE", readChange, termPart, runPart, ledger.Ledger, ledger.Acts, restPart,
		link.Part(&operateLua), link.Part(text))
}

// A changeReply is what an operator's step answers:
//
//	{code, pttl, record, pause, now, ran, ends}   how things are: who had the lock before, the pause, whether the job
//	                                              has ever run, and which pauses have ended without some master
//	{-1, n, type}                                 the n-th key is something else
//
// where code is one of those below, or that of a [lock.Objection].
type changeReply struct {
	code  int64
	left  int64  // what PTTL says of the lock, before
	held  string // the value of the lock before, of any bytes
	pause string // the value of the pause
	now   int64  // the server's clock, ms
	ran   bool   // the job has run, as far as its fence remembers
	ends  string // which pauses have ended without some master
	wrong wrongKey

	unsure bool // it looks as if this very change had been made before, and its answer lost; nobody can tell
}

// The codes of a changeReply.
const (
	nothing   = 0 // there was nothing to do it to
	changed   = 1
	already   = 2
	runOver   = 3 // the run has ended
	wrongKind = -1
)

func readChange(r *link.Reply) (c changeReply) {
	c.code = r.Code()
	switch {
	case c.code == wrongKind:
		c.wrong = readWrongKey(c.code, r)
	case c.code >= nothing && c.code <= runOver || lock.ObjectionOf(c.code) != 0:
		c.left, c.held, c.pause, c.now = r.Whole(-2), r.Text(), r.Text(), r.Whole(0)
		c.ran, c.ends = r.Number(0, 1) == 1, r.Text()
	default:
		r.Strange()
	}
	return c
}

// run is who has the lock at the master: a run, byPause, byForeign, or noHolder.
func (c changeReply) run() string {
	switch h, _, _ := wire.ReadHeld(c.held); {
	case c.left == -2:
		return noHolder
	case wire.ReadPause(c.held) != nil:
		return byPause
	case h.Run == "":
		return byForeign
	default:
		return h.Run
	}
}

// lease is what is left of the lock's; negative: it never expires by itself.
func (c changeReply) lease() time.Duration {
	return max(-1, time.Duration(c.left)*time.Millisecond)
}

// settledBy is the reply with what this very change has done before, when its answer was
// lost, as done now.
func (c changeReply) settledBy(by lock.Change, inDoubt bool) changeReply {
	h, _, _ := wire.ReadHeld(c.held)
	pause := wire.ReadPause(c.pause)
	own := false
	switch by.Act {
	case lock.ActPause:
		own = c.code == already && pause != nil && pause.ID == by.By.Run
	case lock.ActStop:
		own = c.code == already && h.Stop == by.By.Run
		c.unsure = inDoubt && (c.code == nothing || c.code == runOver || lock.ObjectionOf(c.code) == lock.OtherRun)
	case lock.ActUnlock:
		own = inDoubt && (c.code == nothing || lock.ObjectionOf(c.code) == lock.OtherRun && h.Run != by.Run)
		c.unsure = own
	case lock.ActResume, lock.ActForget:
		own = inDoubt && c.code == nothing
		c.unsure = own
	}
	if own {
		c.code = changed
	}
	return c
}
