package quorum

import (
	_ "embed"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
)

//go:embed operator.lua
var operatorLua string

//go:embed note.lua
var noteLua string

// noting is the act that notes which pauses have ended; only a quorum has it.
const noting lock.Act = "note"

// changeStep is an operator's step for one act, atomic at one master, which may be repeated.
func changeStep(act lock.Act) link.Script[step.ChangeReply] {
	if act == noting {
		return step.ChangeBy(noteLua, endedLua, operatorLua)
	}
	return step.Change(act, endedLua, operatorLua)
}

// A changeReply is what a master has answered.
type changeReply struct {
	step.ChangeReply
	ambiguous bool // it looks as if this very change had been made before, and its answer lost; nobody can tell
}

// run is who has the lock at the master: a run, byPause, byForeign, or noHolder.
func (c changeReply) run() string {
	switch h, _, _ := wire.ReadHeld(c.Held); {
	case c.Left == -2:
		return noHolder
	case wire.ReadPause(c.Held) != nil:
		return byPause
	case h.Run == "":
		return byForeign
	default:
		return h.Run
	}
}

// lease is what is left of the lock's; negative: it never expires by itself.
func (c changeReply) lease() time.Duration {
	return max(-1, time.Duration(c.Left)*time.Millisecond)
}

// resolvedBy is the reply with what this very change has done before, when its answer was
// lost, as done now.
func (c changeReply) resolvedBy(by lock.Change, unconfirmed bool) changeReply {
	h, _, _ := wire.ReadHeld(c.Held)
	pause := wire.ReadPause(c.Pause)
	own := false
	switch by.Act {
	case lock.ActPause:
		own = c.Code == step.Already && pause != nil && pause.ID == by.By.Run
	case lock.ActStop:
		own = c.Code == step.Already && h.Stop == by.By.Run
		c.ambiguous = unconfirmed && (c.Code == step.Nothing || c.Code == step.RunOver ||
			lock.ObjectionOf(c.Code) == lock.OtherRun)
	case lock.ActUnlock:
		own = unconfirmed && (c.Code == step.Nothing || lock.ObjectionOf(c.Code) == lock.OtherRun && h.Run != by.Run)
		c.ambiguous = own
	case lock.ActResume, lock.ActForget:
		own = unconfirmed && c.Code == step.Nothing
		c.ambiguous = own
	}
	if own {
		c.Code = step.Changed
	}
	return c
}
