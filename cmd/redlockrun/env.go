package main

import (
	"slices"
	"strings"
)

// A lookup answers for a variable of the environment, as os.LookupEnv does.
type lookup func(name string) (value string, set bool)

// environmentLevel is what REDLOCKRUN_* variables say. Unknown ones are
// ignored: Kubernetes injects REDLOCKRUN_PORT for a Service of that name.
func environmentLevel(env lookup) level {
	values := make(map[string][]string)
	for _, s := range settings() {
		if value, set := env(s.variable()); set {
			values[s.name] = fromVariable(s.name, value)
		}
	}
	return level{values: values, called: variableOf}
}

// fromVariable is the value of a variable as flags would have said it: several
// URLs stand in one variable with white space between.
func fromVariable(name, value string) []string {
	if name == "redis" && strings.TrimSpace(value) != "" {
		return strings.Fields(value)
	}
	return []string{value}
}

// Variables that redlockrun gives to its command.
const (
	heldKeyVar  = "REDLOCKRUN_HELD_KEY"
	runIDVar    = "REDLOCKRUN_RUN_ID"
	heldRunsVar = "REDLOCKRUN_HELD_RUNS"
	pidVar      = "REDLOCKRUN_PID"
	fenceVar    = "REDLOCKRUN_FENCE"
)

// maxEnclosing bounds what is believed of REDLOCKRUN_HELD_RUNS.
const maxEnclosing = 100

// enclosingRuns are the runs that this one is part of.
func enclosingRuns(env lookup) []string {
	value, _ := env(heldRunsVar)
	runs := slices.DeleteFunc(strings.Fields(value), func(run string) bool { return len(run) != 26 })
	return runs[max(0, len(runs)-maxEnclosing):]
}

// with is environ in which the variables of set replace those of the same name.
func with(environ []string, set [][2]string) []string {
	out := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(set, func(v [2]string) bool { return v[0] == name })
	})
	for _, v := range set {
		out = append(out, v[0]+"="+v[1])
	}
	return out
}
