package line

import (
	_ "embed"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/ledger"
	"redlockrun/internal/lock/link"
)

// The steps, each atomic in the server.
var (
	//go:embed run.lua
	runLua string
	//go:embed begin.lua
	beginLua string
	//go:embed line.lua
	lineLua string
	//go:embed acquire.lua
	acquireLua string
	//go:embed confirm.lua
	confirmLua string
	//go:embed renew.lua
	renewLua string
	//go:embed release.lua
	releaseLua string

	//go:embed operate.lua
	operateLua string
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

	runPart, beginPart, linePart = link.Part(&runLua), link.Part(&beginLua), link.Part(&lineLua)
)

// steps are what a store sends. A test sets those of another release.
type steps struct {
	acquire link.Script[acquireReply]
	confirm link.Script[confirmReply]
	renew   link.Script[renewReply]
	release link.Script[releaseReply]
}

// A step is made of those parts that its run needs: each run sends its own.
var (
	renewStep  = link.NewScript("GETRANGE", readRenew, link.Part(&renewLua))
	acquireEnd = link.Part(&acquireLua)
	confirmEnd = link.Part(&confirmLua)
	releaseEnd = link.Part(&releaseLua)
)

// present are the steps of this release, for runs without a slot.
var present = steps{
	acquire: link.NewScript("GETRANGE", readAcquire, runPart, ledger.Slots, ledger.Ledger, ledger.Opening,
		beginPart, linePart, acquireEnd),
	confirm: link.NewScript("GETRANGE", readConfirm, runPart, ledger.Slots, ledger.Ledger, ledger.Opening,
		beginPart, confirmEnd),
	renew: renewStep,
	release: link.NewScript("GETRANGE", readRelease, runPart, ledger.Slots, ledger.Ledger, ledger.Closing,
		linePart, releaseEnd),
}

// slotted are those for runs that have one. They do all that the others do.
var slotted = steps{
	acquire: link.NewScript("GETRANGE", readAcquire, runPart, ledger.Slots, ledger.OwnSlot, ledger.Ledger,
		ledger.Opening, beginPart, linePart, acquireEnd),
	confirm: link.NewScript("GETRANGE", readConfirm, runPart, ledger.Slots, ledger.OwnSlot, ledger.Ledger,
		ledger.Opening, beginPart, confirmEnd),
	renew: renewStep,
	release: link.NewScript("GETRANGE", readRelease, runPart, ledger.Slots, ledger.OwnSlot, ledger.Ledger,
		ledger.Closing, linePart, releaseEnd),
}

// changeStep is an operator's step for one act.
func changeStep(act lock.Act) link.Script[changeReply] {
	text := map[lock.Act]*string{
		lock.ActPause: &pauseLua, lock.ActResume: &resumeLua, lock.ActStop: &stopLua, lock.ActUnlock: &unlockLua, lock.ActForget: &forgetLua,
	}[act]
	return link.NewScript("GETRANGE", readChange, runPart, ledger.Slots, ledger.Ledger, ledger.Acts, linePart,
		link.Part(&operateLua), link.Part(text))
}
