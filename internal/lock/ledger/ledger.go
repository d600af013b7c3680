// Package ledger is what steps write beside the lock: the slots, which are a part of it, and
// the ledger, which decides nothing. The steps of line and quorum share these parts.
//
// Both are written by whoever stands before them in a script: it says what call, try, now,
// id, history and the names of the keys are.
package ledger

import (
	_ "embed"

	"redlockrun/internal/lock/link"
)

var (
	//go:embed slots.lua
	slotsLua string
	//go:embed own_slot.lua
	ownSlotLua string
	//go:embed ledger.lua
	ledgerLua string
	//go:embed opening.lua
	openingLua string
	//go:embed closing.lua
	closingLua string
	//go:embed acts.lua
	actsLua string
)

// The parts of steps, in the order in which they stand there. Each run sends its steps: one
// without a slot leaves OwnSlot out, and no step has more of the ledger than it needs.
var (
	Slots   = link.Part(&slotsLua)   // what is known of slots
	OwnSlot = link.Part(&ownSlotLua) // the slot of the run that asks
	Ledger  = link.Part(&ledgerLua)  // what the other three share
	Opening = link.Part(&openingLua) // how a run begins
	Closing = link.Part(&closingLua) // how a run ends
	Acts    = link.Part(&actsLua)    // what an operator does
)
