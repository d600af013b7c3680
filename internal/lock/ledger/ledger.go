// Package ledger has the parts of steps that write beside the lock. They write the slots, which are a
// part of the lock, and the ledger, which decides nothing. The steps of line and quorum share these
// parts. They stand behind the prelude of step, which names the keys and the run.
package ledger

import _ "embed"

// The parts of steps, in the order in which they stand there. Each run sends its steps: one
// without a slot leaves OwnSlot out, and no step has more of the ledger than it needs.
var (
	//go:embed slots.lua
	Slots string // what is known of slots
	//go:embed own_slot.lua
	OwnSlot string // the slot of the run that asks
	//go:embed ledger.lua
	Ledger string // what the other two share
	//go:embed opening.lua
	Opening string // how a run begins
	//go:embed closing.lua
	Closing string // how a run ends
)
