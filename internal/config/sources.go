package config

import (
	"slices"
	"strings"
	"time"
)

// An origin is a place that settings come from. Earlier ones override later ones.
type origin int

const (
	flags origin = iota
	environment
	file
	redisURL // REDIS_URL, which is set for all programs
	builtin
	origins
)

// A layer holds the settings of one origin.
type layer struct {
	values     map[string][]string      // by the setting's name
	sourceName func(name string) string // how a message names the setting here
	public     string                   // the file behind the layer, if every user can read it

	writable string // a warning about a file that other users may write
}

// Sources are where settings come from. The first that sets one wins: flags, the environment, the
// file, REDIS_URL, built-in defaults.
type Sources struct {
	env    Lookup
	now    func() time.Time // the wall clock, in the host's time zone
	layers [origins]layer
}

// NewSources makes Sources of flags and environment; ReadFile adds the file. flagValues has the
// values of each flag, by the flag's name. The Sources check them on use, so that an error names
// the source. now is the host's wall clock, in its time zone, which names the slots.
func NewSources(flagValues map[string][]string, env Lookup, now func() time.Time) *Sources {
	s := &Sources{env: env, now: now}
	s.layers[flags] = layer{values: flagValues, sourceName: func(name string) string { return "--" + name }}
	s.layers[environment] = environmentLayer(env)
	s.layers[redisURL] = redisURLLayer(env)
	s.layers[builtin] = builtinLayer()
	return s
}

// ReadFile adds the configuration file: the one that REDLOCKRUN_CONFIG names, or DefaultFile,
// which need not exist. The error is a *UsageError, after which the sources are unchanged.
func (s *Sources) ReadFile() error {
	l, err := fileLayer(s.env)
	if err == nil {
		s.layers[file] = l
	}
	return err
}

func builtinLayer() layer {
	values := make(map[string][]string)
	for _, s := range settings {
		if s.Default != "" {
			values[s.Name] = []string{s.Default}
		}
	}
	return layer{values: values, sourceName: func(string) string { return "the built-in default" }}
}

// A setValue is the effective value of a setting, and how messages name its source.
type setValue struct {
	name       string
	values     []string
	origin     origin
	sourceName string
}

// last returns the value of a setting that has only one; the last one wins.
func (g setValue) last() string { return g.values[len(g.values)-1] }

func (g setValue) isSet() bool { return g.values != nil }

// effective returns the value of the first layer that sets one of names. Two of them in one layer
// contradict each other.
func (s *Sources) effective(names ...string) (setValue, error) {
	for i, l := range s.layers {
		var found setValue
		for _, name := range names {
			values := l.values[name]
			off := isOff(name, values)
			if off && len(names) == 1 {
				return setValue{}, nil // no other name is left
			}
			if values == nil || off {
				continue
			}
			here := setValue{name, values, origin(i), l.sourceName(name)}
			if found.isSet() {
				return found, Usagef("%s and %s contradict each other", found.sourceName, here.sourceName)
			}
			found = here
		}
		if found.isSet() {
			return found, found.notEmpty()
		}
	}
	return setValue{}, nil
}

func (g setValue) notEmpty() error {
	hint := "give it a value, or leave it out"
	if g.origin == redisURL {
		hint = "give it a value, leave it out, or use --redis"
	}
	for _, value := range g.values {
		if value == "" || g.name == "redis" && strings.TrimSpace(value) == "" {
			return Usagef("%s is empty", g.sourceName).Hint(hint)
		}
	}
	return nil
}

// warnings returns what the user should know about the places that the settings come from.
func (s *Sources) warnings() (all []string) {
	for _, l := range s.layers {
		if l.writable != "" {
			all = append(all, l.writable)
		}
		if l.public != "" && slices.ContainsFunc(l.values["redis"], hasPassword) {
			all = append(all, "every user on this host can read the password in "+l.public+
				"; hide it with chmod 640 and the group of the jobs, or use "+
				variableOf("redis-password-file"))
		}
	}
	return all
}

// EffectiveValue returns the value of a setting, whatever is wrong with the others; "" if it is
// not set or wrong.
func (s *Sources) EffectiveValue(setting string) string {
	g, err := s.effective(setting)
	if err != nil || !g.isSet() {
		return ""
	}
	return g.last()
}
