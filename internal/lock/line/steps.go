package line

import (
	_ "embed"

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

	runPart, beginPart, linePart = link.Part(&runLua), link.Part(&beginLua), link.Part(&lineLua)
)

// steps are what a store sends. A test sets those of another release.
type steps struct {
	acquire link.Script[acquireReply]
	confirm link.Script[confirmReply]
	renew   link.Script[renewReply]
	release link.Script[releaseReply]
}

// present are the steps of this release.
var present = steps{
	acquire: link.NewScript(readAcquire, runPart, ledger.Slots, ledger.Ledger, beginPart, linePart, link.Part(&acquireLua)),
	confirm: link.NewScript(readConfirm, runPart, ledger.Slots, ledger.Ledger, beginPart, link.Part(&confirmLua)),
	renew:   link.NewScript(readRenew, link.Part(&renewLua)),
	release: link.NewScript(readRelease, runPart, ledger.Slots, ledger.Ledger, linePart, link.Part(&releaseLua)),
}
