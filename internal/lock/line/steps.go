package line

import (
	_ "embed"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/ledger"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/step"
)

// The steps, each atomic in the server.
var (
	//go:embed begin.lua
	beginLua string
	//go:embed queue.lua
	queueLua string
	//go:embed acquire.lua
	acquireLua string
	//go:embed confirm.lua
	confirmLua string
	//go:embed renew.lua
	renewLua string
	//go:embed retake.lua
	retakeLua string
	//go:embed release.lua
	releaseLua string
	//go:embed operator.lua
	operatorLua string
)

// steps are what a store sends. A test sets those of another release.
type steps struct {
	acquire link.Script[acquireReply]
	confirm link.Script[confirmReply]
	renew   link.Script[renewReply]
	retake  link.Script[retakeReply]
	release link.Script[releaseReply]
}

// present are the steps of this release, for runs without a slot; slotted are those for runs that have one, which do
// all
// that the others do. A step is made of those parts that its run needs: each run sends its own.
var present, slotted = stepsWith(), stepsWith(ledger.OwnSlot)

func stepsWith(slot ...string) steps {
	begins := append(append([]string{step.Prelude, ledger.Slots}, slot...), ledger.Ledger, ledger.Opening, beginLua)
	ends := append(append([]string{step.Prelude, ledger.Slots}, slot...), ledger.Ledger, ledger.Closing, step.Pauses,
		queueLua, releaseLua)
	return steps{
		acquire: link.NewScript("GETRANGE", readAcquire,
			append(begins[:len(begins):len(begins)], step.Pauses, queueLua, acquireLua)...),
		confirm: link.NewScript("GETRANGE", readConfirm, append(begins[:len(begins):len(begins)], confirmLua)...),
		renew:   link.NewScript("GETRANGE", readRenew, step.Record, renewLua),
		retake: link.NewScript("GETRANGE", readRetake,
			append(begins[:len(begins):len(begins)], step.Pauses, retakeLua)...),
		release: link.NewScript("GETRANGE", readRelease, ends...),
	}
}

// changeStep is an operator's step for one act.
func changeStep(act lock.Act) link.Script[step.ChangeReply] {
	return step.Change(act, queueLua, operatorLua)
}
