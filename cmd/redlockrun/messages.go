package main

import (
	"redlockrun/internal/console"

	"github.com/rs/zerolog"
)

// console reads the settings of the messages. What it returns can be used even
// if there is an error.
func (s sources) console() (console.Console, error) {
	r := reading{sources: s}
	c := console.Console{Level: r.level(), JSON: r.choice("log-format", "text", "json") == "json"}
	return c, r.err
}

func (r *reading) level() zerolog.Level {
	g := r.nearest("quiet", "verbose", "log-level")
	switch {
	case !g.said():
		return zerolog.WarnLevel
	case g.name == "quiet" && r.isSwitch(g):
		return zerolog.ErrorLevel
	case g.name == "verbose":
		return r.verbosity(g)
	}
	return levels[r.choice("log-level", "warn", "debug", "info", "error")]
}

var levels = map[string]zerolog.Level{
	"debug": zerolog.DebugLevel, "info": zerolog.InfoLevel, "warn": zerolog.WarnLevel, "error": zerolog.ErrorLevel,
}

// verbosity is info for one -v and debug for more; a variable says 1 or 2.
func (r *reading) verbosity(g given) zerolog.Level {
	if len(g.values) > 1 || g.last() == "2" {
		return zerolog.DebugLevel
	}
	r.isSwitch(g)
	return zerolog.InfoLevel
}
