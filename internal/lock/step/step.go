// Package step has what the steps of line and quorum share: how they begin, and the acts of an
// operator. A step is a script, atomic in the server, made of parts: record.lua and prelude.lua stand
// first and describe the arguments of each step. The parts that write the ledger and the slots are
// those of the package ledger.
package step

import (
	_ "embed"
	"strconv"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/ledger"
	"redlockrun/internal/lock/link"
)

var (
	//go:embed record.lua
	Record string // how a record is read
	//go:embed prelude.lua
	preludeLua string
	//go:embed pauses.lua
	Pauses string // how a pause takes the lock

	//go:embed operate.lua
	operateLua string
	//go:embed look.lua
	lookLua string
	//go:embed pause.lua
	pauseLua string
	//go:embed resume.lua
	resumeLua string
	//go:embed stop.lua
	stopLua string
	//go:embed unlock.lua
	unlockLua string
	//go:embed forget.lua
	forgetLua string
)

// Prelude is the beginning of each step of a run.
var Prelude = Record + preludeLua

// An Asker is who makes a step, and what it is about.
type Asker struct {
	Run     string // or the change of an operator
	History int    // how many runs the ledger keeps; 0: nothing is written of it
	MaxAge  lock.MaxAge
	Words   string // as wire.HolderText has them
	Asked   int64  // when the run asked first, ms of the server's clock; 0 or less: so many ms ago
	Slot    string
	Name    string // of the lock
	Names   string // the set of names; "" if the steps cannot reach it
}

// Args returns the arguments of a step: the same for each asker, and then more.
func (a Asker) Args(more ...any) []any {
	ledger := strconv.Itoa(a.History)
	if a.MaxAge.Set {
		ledger += " " + strconv.FormatInt(lock.Milliseconds(a.MaxAge.Limit), 10)
	}
	return append([]any{a.Run, ledger, a.Words, a.Asked, a.Slot, a.Name, a.Names}, more...)
}

// Look is the act that changes nothing.
const Look lock.Act = "look"

// Change is an operator's step for one act, where a store adds what operate.lua says.
func Change(act lock.Act, store ...string) link.Script[ChangeReply] {
	return ChangeBy(map[lock.Act]string{
		Look: lookLua, lock.ActPause: pauseLua, lock.ActResume: resumeLua, lock.ActStop: stopLua,
		lock.ActUnlock: unlockLua,
		lock.ActForget: forgetLua,
	}[act], store...)
}

// ChangeBy is Change for an act of one store alone.
func ChangeBy(text string, store ...string) link.Script[ChangeReply] {
	parts := append([]string{Prelude, ledger.Slots, ledger.Ledger, Pauses}, store...)
	return link.NewScript("GETRANGE", readChange, append(parts, operateLua, text)...)
}
