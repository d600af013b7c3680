package main

import (
	"testing"

	"github.com/rs/zerolog"
)

func TestLevelsByFlagAndVariable(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  map[string]string
		want zerolog.Level
	}{
		{nil, nil, zerolog.WarnLevel},
		{[]string{"-q"}, nil, zerolog.ErrorLevel},
		{[]string{"-v"}, nil, zerolog.InfoLevel},
		{[]string{"-vv"}, nil, zerolog.DebugLevel},
		{[]string{"-v", "-v"}, nil, zerolog.DebugLevel},
		{[]string{"--log-level", "debug"}, nil, zerolog.DebugLevel},
		{[]string{"--log-level", "error"}, nil, zerolog.ErrorLevel},
		{nil, map[string]string{"REDLOCKRUN_QUIET": "1"}, zerolog.ErrorLevel},
		{nil, map[string]string{"REDLOCKRUN_VERBOSE": "2"}, zerolog.DebugLevel},
		{nil, map[string]string{"REDLOCKRUN_VERBOSE": "0"}, zerolog.WarnLevel},
		{[]string{"-q"}, map[string]string{"REDLOCKRUN_VERBOSE": "1"}, zerolog.ErrorLevel},
	} {
		p := newProgram(func(name string) (string, bool) {
			if value, set := c.env[name]; set || name != configVar {
				return value, set
			}
			return "/dev/null", true
		}, discard)
		p.runF = func(*config) (ending, error) { return ending{}, nil }
		if err := p.execute(append(append([]string{"-k", "x"}, c.args...), "true")); err != nil || p.log.GetLevel() != c.want {
			t.Errorf("%q %v: %v, %v; want %v", c.args, c.env, p.log.GetLevel(), err, c.want)
		}
	}
}

func discard([]byte) {}
