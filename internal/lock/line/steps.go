package line

import (
	"redlockrun/internal/lock/link"

	_ "embed"
)

// The steps, each atomic in the server. EVAL and not EVALSHA: a run uses
// each but renew and confirm once, and a server that has forgotten its scripts is no case.
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

	acquireStep = link.Join(runPart, linePart, link.Part(&acquireLua))
	confirmStep = link.Join(runPart, link.Part(&confirmLua))
	releaseStep = link.Join(runPart, linePart, link.Part(&releaseLua))
)
