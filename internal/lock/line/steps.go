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

// present are the steps of this release.
var present = steps{
	acquire: link.NewScript(readAcquire, runPart, ledger.Slots, ledger.Ledger, beginPart, linePart, link.Part(&acquireLua)),
	confirm: link.NewScript(readConfirm, runPart, ledger.Slots, ledger.Ledger, beginPart, link.Part(&confirmLua)),
	renew:   link.NewScript(readRenew, link.Part(&renewLua)),
	release: link.NewScript(readRelease, runPart, ledger.Slots, ledger.Ledger, linePart, link.Part(&releaseLua)),
}

// changes are the steps of an operator, each for one act.
var changes = map[lock.Event]link.Script[changeReply]{
	lock.Paused:    change(&pauseLua),
	lock.Resumed:   change(&resumeLua),
	lock.Halted:    change(&stopLua),
	lock.Freed:     change(&unlockLua),
	lock.Forgotten: change(&forgetLua),
}

func change(act *string) link.Script[changeReply] {
	return link.NewScript(readChange, runPart, ledger.Slots, ledger.Ledger, linePart, link.Part(&operateLua), link.Part(act))
}
