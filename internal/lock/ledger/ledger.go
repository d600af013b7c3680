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
	//go:embed ledger.lua
	ledgerLua string
)

// The parts of steps.
var (
	Slots  = link.Part(&slotsLua)
	Ledger = link.Part(&ledgerLua)
)
