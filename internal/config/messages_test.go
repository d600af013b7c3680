package config_test

import "testing"

func TestLevelsByFlagAndVariable(t *testing.T) {
	for _, c := range []struct {
		flags []string
		env   map[string]string
		want  string
	}{
		{nil, nil, "warn"},
		{[]string{"quiet"}, nil, "error"},
		{[]string{"verbose"}, nil, "info"},
		{[]string{"verbose", "verbose"}, nil, "debug"},
		{[]string{"log-level=debug"}, nil, "debug"},
		{[]string{"log-level=error"}, nil, "error"},
		{nil, map[string]string{"REDLOCKRUN_QUIET": "1"}, "error"},
		{nil, map[string]string{"REDLOCKRUN_VERBOSE": "2"}, "debug"},
		{nil, map[string]string{"REDLOCKRUN_VERBOSE": "0"}, "warn"},
		{[]string{"quiet"}, map[string]string{"REDLOCKRUN_VERBOSE": "1"}, "error"},
	} {
		s, err := sources(c.env, c.flags...)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := s.Messages(); err != nil || m.Level != c.want || m.JSON {
			t.Errorf("%q %v: %+v, %v; want %v", c.flags, c.env, m, err, c.want)
		}
	}
}

// Errors in these settings need a message, too.
func TestMessagesAreUsableDespiteAnError(t *testing.T) {
	for _, flags := range [][]string{{"quiet", "verbose"}, {"log-level=loud"},
		{"quiet", "log-format=json", "log-level=info"}} {
		s, err := sources(nil, flags...)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Messages()
		wantRefused(t, err)
		if m.Level != "warn" || m.JSON != (len(flags) == 3) {
			t.Errorf("%q: %+v", flags, m)
		}
	}
}
