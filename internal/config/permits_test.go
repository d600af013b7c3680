package config_test

import (
	"testing"

	"redlockrun/internal/config"
)

func TestPermitsAreReadTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags []string
		want  config.Permits
	}{
		{nil, config.Permits{}},
		{[]string{"permits=3"}, config.Permits{Of: 3, Take: 1}},
		{[]string{"permits=64", "take=64"}, config.Permits{Of: 64, Take: 64}},
		{[]string{"permits=2", "take=all"}, config.Permits{Of: 2, All: true}},
	} {
		got, err := read(nil, append([]string{"key=x"}, c.flags...)...)
		if err != nil || got.Permits != c.want {
			t.Errorf("%q: %+v, %v", c.flags, got.Permits, err)
		}
	}
}

func TestPermitsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, says []string }{
		{[]string{"permits=1"}, []string{"--permits 1 is too few", "2 to 64"}},
		{[]string{"permits=0"}, []string{"--permits 0 is too few"}},
		{[]string{"permits=65"}, []string{"--permits", "more than 64"}},
		{[]string{"permits=x"}, []string{"--permits", "not a whole number"}},
		{[]string{"permits=3", "take=4"}, []string{"--take 4 is more than the 3 permits"}},
		{[]string{"permits=3", "take=0"}, []string{"--take 0"}},
		{[]string{"permits=3", "take=ALL"}, []string{"--take"}},
		{[]string{"take=2"}, []string{"--take is for permits, and there are none"}},
		{[]string{"permits=3", "once-per=5m"}, []string{"--once-per and --permits cannot be combined", "nest"}},
		{[]string{"permits=3", "once=x"}, []string{"--once and --permits"}},
		{[]string{"permits=3", "min-hold=1"}, []string{"--min-hold and --permits"}},
		{[]string{"permits=3", "max-age=1h"}, []string{"--max-age and --permits"}},
	} {
		_, err := read(nil, append([]string{"key=x"}, c.flags...)...)
		wantRefused(t, err, c.says...)
	}
}

// The file covers every key of the host: what it says of permits alone disturbs no lock.
func TestTheFileMaySayHowManyARunTakes(t *testing.T) {
	t.Parallel()
	if c, err := read(configFile(t, "REDLOCKRUN_TAKE=2"), "key=x"); err != nil || c.Permits.Of != 0 {
		t.Errorf("%+v, %v", c.Permits, err)
	}
	if c, err := read(configFile(t, "REDLOCKRUN_MAX_AGE=1h"), "key=x", "permits=2", "max-age=0"); err != nil ||
		c.MaxAge.Set {
		t.Errorf("%+v, %v", c.MaxAge, err)
	}
}
