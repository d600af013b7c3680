package inspect

import (
	_ "embed"

	"redlockrun/internal/lock/link"
)

// The steps, each atomic in the server. None writes.
var (
	//go:embed jobs.lua
	jobsLua string
	//go:embed names.lua
	namesLua string
	//go:embed scan.lua
	scanLua string
	//go:embed runs.lua
	runsLua string

	jobsStep  = link.NewScript(readJobs, link.Part(&jobsLua))
	namesStep = link.NewScript(readNames, link.Part(&namesLua))
	scanStep  = link.NewScript(readNames, link.Part(&scanLua))
	runsStep  = link.NewScript(readRuns, link.Part(&runsLua))
)
