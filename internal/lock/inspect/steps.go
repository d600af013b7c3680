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
	//go:embed outputs.lua
	outputsLua string

	jobsStep    = link.NewScript("GETRANGE", readJobs, jobsLua)
	namesStep   = link.NewScript("ZSCAN", readNames, namesLua)
	scanStep    = link.NewScript("SCAN", readNames, scanLua)
	runsStep    = link.NewScript("LRANGE", readRuns, runsLua)
	outputsStep = link.NewScript("LRANGE", readOutputs, outputsLua)
)
