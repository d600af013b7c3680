package config

import (
	"slices"
	"strings"
)

// A Lookup answers for a variable of the environment, as os.LookupEnv does.
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
	AttemptVar  = "REDLOCKRUN_ATTEMPT" // the how manieth start this is, from 1
	SlotVar     = "REDLOCKRUN_SLOT"    // the slot's name; unset without one
)

// environmentLayer is what REDLOCKRUN_* variables say. Unknown ones are
// ignored: Kubernetes injects REDLOCKRUN_PORT for a Service of that name.
func environmentLayer(env Lookup) layer {
	values := make(map[string][]string)
	for _, s := range settings {
		if value, set := env(s.Variable()); set {
			values[s.Name] = fromVariable(s.Name, value)
		}
	}
	return layer{values: values, sourceName: variableOf}
}

// fromVariable is the value of a variable as flags would have said it: several
// URLs stand in one variable with white space between.
func fromVariable(name, value string) []string {
	if name == "redis" && strings.TrimSpace(value) != "" {
		return strings.Fields(value)
	}
	return []string{value}
}

const redisURLVar = "REDIS_URL"

// redisURLLayer has an address that somebody has set for all programs.
func redisURLLayer(env Lookup) layer {
	l := layer{sourceName: func(string) string { return redisURLVar }}
	if url, set := env(redisURLVar); set {
		l.values = map[string][]string{"redis": {url}}
	}
	return l
}

// maxEnclosing bounds what is believed of REDLOCKRUN_HELD_RUNS.
const maxEnclosing = 100

// enclosingRuns are the runs that this one is part of.
func enclosingRuns(env Lookup) []string {
	value, _ := env(HeldRunsVar)
	runs := slices.DeleteFunc(strings.Fields(value), func(run string) bool { return len(run) != 26 })
	return runs[max(0, len(runs)-maxEnclosing):]
}
