package main

import (
	"slices"
	"strings"
)

// A level is one place that settings come from.
type level struct {
	values map[string][]string      // what was said, by the setting's name
	called func(name string) string // how a message names the setting here
	public string                   // the file that everybody may read, if that is where it comes from
}

// sources are the levels, the nearest first.
type sources []level

// A given is the value that counts for a setting, and how to name it.
type given struct {
	name   string
	values []string
	called string
}

// last is the value of a setting that has only one; the last one counts.
func (g given) last() string { return g.values[len(g.values)-1] }

func (g given) said() bool { return g.values != nil }

// nearest is what the nearest level that knows one of names says. Two of them
// at that level contradict each other.
func (s sources) nearest(names ...string) (given, error) {
	for _, l := range s {
		var found given
		for _, name := range names {
			values, ok := l.values[name]
			if !ok || isOff(name, values) {
				continue
			}
			here := given{name, values, l.called(name)}
			if found.said() {
				return found, usagef("%s and %s contradict each other", found.called, here.called)
			}
			found = here
		}
		if found.said() {
			return found, found.notEmpty()
		}
	}
	return given{}, nil
}

func (g given) notEmpty() error {
	for _, value := range g.values {
		if value == "" || g.name == "redis" && strings.TrimSpace(value) == "" {
			return usagef("%s is empty", g.called).hint("give it a value, or leave it out")
		}
	}
	return nil
}

// isOff reports that a switch was explicitly not thrown, which leaves the
// other settings of its kind as they are.
func isOff(name string, values []string) bool {
	switch name {
	case "nonblock", "quiet", "verbose", "local", "durable":
		on, known := parseSwitch(values[len(values)-1])
		return known && !on
	}
	return false
}

func parseSwitch(text string) (on, known bool) {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true, true
	case "0", "false", "no", "off":
		return false, true
	}
	return false, false
}

// warnings are what the user should know about the places that the settings come from.
func (s sources) warnings() (all []string) {
	for _, l := range s {
		if l.public != "" && slices.ContainsFunc(l.values["redis"], hasPassword) {
			all = append(all, "everybody on this host can read the password in "+l.public+
				"; chmod 640, with the group of the jobs, hides it, or "+variableOf("redis-password-file")+" names a file for it")
		}
	}
	return all
}

// flagLevel is what the command line says.
func flagLevel(said map[string]*words) level {
	values := make(map[string][]string)
	for name, w := range said {
		if *w != nil {
			values[name] = *w
		}
	}
	return level{values: values, called: func(name string) string { return "--" + name }}
}
