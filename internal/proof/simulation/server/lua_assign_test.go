package server_test

import (
	"testing"
	"time"

	"redlockrun/internal/proof/simulation/server"
)

func TestALocalIsGivenWhatNotAAndBIs(t *testing.T) {
	s := server.New(time.Now)
	for script, want := range map[string]any{
		"local a, x = 1, 'before' x = not a and 'never' return tostring(x)":                               "false",
		"local a, x = nil, 'before' x = not a and 'b' return tostring(x)":                                 "b",
		"local a, x = 1, 'before' x = not a or 'b' return tostring(x)":                                    "b",
		"local a, x, y = 1, 'before', 0 x, y = not a and 'never', 2 return tostring(x) .. y":              "false2",
		"local function f(a) local x = 'before' x = not a and 'never' return tostring(x) end return f(1)": "false",
		"local t, x = {f = function(a) local x = 1 x = not a and 2 return tostring(x) end} return t.f(1)": "false",
	} {
		if got, err := s.Do("EVAL", script, 0); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", script, got, err, want)
		}
	}
}
