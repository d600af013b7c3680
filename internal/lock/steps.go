package lock

import _ "embed"

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

	runPart, linePart = strip(&runLua), strip(&lineLua)

	acquireStep = join(runPart, linePart, strip(&acquireLua))
	confirmStep = join(runPart, strip(&confirmLua))
	releaseStep = join(runPart, linePart, strip(&releaseLua))
)
