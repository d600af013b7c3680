package config

import (
	"slices"
	"strings"
)

// A Lookup returns a variable of the environment, as os.LookupEnv does.
type Lookup func(name string) (value string, set bool)

// FileVar is the variable that names the configuration file.
const FileVar = "REDLOCKRUN_CONFIG"

// Variables that redlockrun gives to its command.
const (
	HeldKeyVar  = "REDLOCKRUN_HELD_KEY"
	RunIDVar    = "REDLOCKRUN_RUN_ID"
	HeldRunsVar = "REDLOCKRUN_HELD_RUNS" // the runs around the command, the outermost first
	PIDVar      = "REDLOCKRUN_PID"
	FenceVar    = "REDLOCKRUN_FENCE"
	AttemptVar  = "REDLOCKRUN_ATTEMPT" // the number of this start, from 1
	SlotVar     = "REDLOCKRUN_SLOT"    // the slot's name; unset without one
	PermitVar   = "REDLOCKRUN_PERMIT"  // the numbers of the run's permits; unset without any
)

// environmentLayer reads the REDLOCKRUN_* variables. It ignores unknown ones: Kubernetes injects
// REDLOCKRUN_PORT for a Service of that name.
func environmentLayer(env Lookup) layer {
	values := make(map[string][]string)
	for _, s := range settings {
		if value, set := env(s.Variable()); set {
			values[s.Name] = fromVariable(s.Name, value)
		}
	}
	return layer{values: values, sourceName: variableOf}
}

// fromVariable returns the value of a variable in the form of a flag's: several URLs stand in one
// variable with white space between.
func fromVariable(name, value string) []string {
	if name == "redis" && strings.TrimSpace(value) != "" {
		return strings.Fields(value)
	}
	return []string{value}
}

const redisURLVar = "REDIS_URL"

// redisURLLayer reads an address that is set for all programs.
func redisURLLayer(env Lookup) layer {
	l := layer{sourceName: func(string) string { return redisURLVar }}
	if url, set := env(redisURLVar); set {
		l.values = map[string][]string{"redis": {url}}
	}
	return l
}

// maxEnclosing bounds how many runs of REDLOCKRUN_HELD_RUNS count.
const maxEnclosing = 100

// enclosingRuns returns the runs that this one is part of.
func enclosingRuns(env Lookup) []string {
	value, _ := env(HeldRunsVar)
	runs := slices.DeleteFunc(strings.Fields(value), func(run string) bool { return len(run) != 26 })
	return runs[max(0, len(runs)-maxEnclosing):]
}
