package config

import (
	"slices"
	"strings"
	"time"
)

// An origin is a place that settings come from, the nearest first.
type origin int

const (
	flags origin = iota
	environment
	file
	redisURL // REDIS_URL, which others have set
	builtin
	origins
)

// A level is what one origin says.
type level struct {
	values map[string][]string      // what was said, by the setting's name
	called func(name string) string // how a message names the setting here
	public string                   // the file that everybody may read, if that is where it comes from

	writable string // a warning of a file that others may write
}

// Sources are where settings come from. The nearest that says something counts: flags,
// the environment, the file, REDIS_URL, what is built in.
type Sources struct {
	env    Lookup
	now    func() time.Time // the wall clock, in the host's time zone
	levels [origins]level
}

// From makes Sources of flags and environment; ReadFile adds the file. said has the words of
// each flag that was given, by the flag's name. They are judged once it is known that they
// count, so that what is wrong is named with its source. now is the host's wall clock, in
// its time zone, by which slots have their names.
func From(said map[string][]string, env Lookup, now func() time.Time) *Sources {
	s := &Sources{env: env, now: now}
	s.levels[flags] = flagLevel(said)
	s.levels[environment] = environmentLevel(env)
	s.levels[redisURL] = redisURLLevel(env)
	s.levels[builtin] = builtinLevel()
	return s
}

// ReadFile adds what the configuration file says: the one that REDLOCKRUN_CONFIG names,
// or DefaultFile, which need not exist. The error is a *UsageError, after which the
// sources are as before.
func (s *Sources) ReadFile() error {
	l, err := fileLevel(s.env)
	if err == nil {
		s.levels[file] = l
	}
	return err
}

func flagLevel(said map[string][]string) level {
	return level{values: said, called: func(name string) string { return "--" + name }}
}

func builtinLevel() level {
	values := make(map[string][]string)
	for _, s := range settings {
		if s.Default != "" {
			values[s.Name] = []string{s.Default}
		}
	}
	return level{values: values, called: func(string) string { return "the built-in default" }}
}

// A given is the value that counts for a setting, and how to name it.
type given struct {
	name   string
	values []string
	origin origin
	called string
}

// last is the value of a setting that has only one; the last one counts.
func (g given) last() string { return g.values[len(g.values)-1] }

func (g given) said() bool { return g.values != nil }

// nearest is what the nearest level that knows one of names says. Two of them
// at that level contradict each other.
func (s *Sources) nearest(names ...string) (given, error) {
	for i, l := range s.levels {
		var found given
		for _, name := range names {
			values := l.values[name]
			off := isOff(name, values)
			if off && len(names) == 1 {
				return given{}, nil // nothing else of its kind can be meant
			}
			if values == nil || off {
				continue
			}
			here := given{name, values, origin(i), l.called(name)}
			if found.said() {
				return found, Usagef("%s and %s contradict each other", found.called, here.called)
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
	hint := "give it a value, or leave it out"
	if g.origin == redisURL {
		hint = "give it a value, leave it out, or say --redis"
	}
	for _, value := range g.values {
		if value == "" || g.name == "redis" && strings.TrimSpace(value) == "" {
			return Usagef("%s is empty", g.called).Hint(hint)
		}
	}
	return nil
}

// warnings are what the user should know about the places that the settings come from.
func (s *Sources) warnings() (all []string) {
	for _, l := range s.levels {
		if l.writable != "" {
			all = append(all, l.writable)
		}
		if l.public != "" && slices.ContainsFunc(l.values["redis"], hasPassword) {
			all = append(all, "everybody on this host can read the password in "+l.public+
				"; chmod 640, with the group of the jobs, hides it, or "+variableOf("redis-password-file")+" names a file for it")
		}
	}
	return all
}

// Said is what the nearest source says of a setting, whatever is wrong with the others; "" if
// that is nothing, or cannot be read.
func (s *Sources) Said(setting string) string {
	g, err := s.nearest(setting)
	if err != nil || !g.said() {
		return ""
	}
	return g.last()
}
