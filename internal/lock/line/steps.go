package line

import (
	_ "embed"

	"redlockrun/internal/lock/link"
)

// The steps, each atomic in the server.
var (
	//go:embed run.lua
	runLua string
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

	runPart, linePart = link.Part(&runLua), link.Part(&lineLua)

	acquireStep = link.NewScript(readAcquire, runPart, linePart, link.Part(&acquireLua))
	confirmStep = link.NewScript(readConfirm, runPart, link.Part(&confirmLua))
	renewStep   = link.NewScript(readRenew, link.Part(&renewLua))
	releaseStep = link.NewScript(readRelease, runPart, linePart, link.Part(&releaseLua))
)
