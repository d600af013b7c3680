package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/lock"
)

// someNoon is on a Sunday, at a host in Berlin.
var someNoon = time.Date(2026, 3, 1, 12, 7, 38, 0, time.FixedZone("CET", 3600))

// sourcesAt makes Sources of env and of flags, each of them NAME or NAME=VALUE, on a host
// whose clock shows now. Without a REDLOCKRUN_CONFIG in env there is no file.
func sourcesAt(now time.Time, env map[string]string, flags ...string) (*config.Sources, error) {
	said := make(map[string][]string)
	for _, flag := range flags {
		name, value, found := strings.Cut(flag, "=")
		if !found {
			value = "true"
		}
		said[name] = append(said[name], value)
	}
	s := config.NewSources(said, func(name string) (string, bool) {
		value, set := env[name]
		if name == config.FileVar && !set {
			return "/dev/null", true
		}
		return value, set
	}, func() time.Time { return now })
	return s, s.ReadFile()
}

// sources returns the sources at someNoon.
func sources(env map[string]string, flags ...string) (*config.Sources, error) {
	return sourcesAt(someNoon, env, flags...)
}

// read is the configuration that sources have, if nothing is wrong with the messages.
func read(env map[string]string, flags ...string) (config.Config, error) {
	return readAt(someNoon, env, flags...)
}

func readAt(now time.Time, env map[string]string, flags ...string) (config.Config, error) {
	s, err := sourcesAt(now, env, flags...)
	if err != nil {
		return config.Config{}, err
	}
	if _, err := s.Messages(); err != nil {
		return config.Config{}, err
	}
	return s.Config([]string{"/bin/cmd", "arg"})
}

func configFile(t testing.TB, text string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redlockrun")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{config.FileVar: path}
}

// wantRefused fails the test unless err is a usage error with all of parts in it.
func wantRefused(t *testing.T, err error, parts ...string) {
	t.Helper()
	var usage *config.UsageError
	if !errors.As(err, &usage) {
		t.Fatalf("got %v, want a usage error", err)
	}
	said := usage.Problem + "\n" + strings.Join(usage.Hints, "\n")
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("%q does not say %q", said, part)
		}
	}
}

func TestDefaultsAreThoseOfTheHelp(t *testing.T) {
	c, err := read(nil, "key=x")
	if err != nil {
		t.Fatal(err)
	}
	if c.Times != lock.TimesOf(time.Minute) || c.Wait != (lock.Wait{Delay: 200 * time.Millisecond}) {
		t.Errorf("times %+v, wait %+v", c.Times, c.Wait)
	}
	if c.OnLost != config.StopCommand || c.MaxRuntime != 0 || c.WarnFailed || c.MinHold != 0 ||
		c.Conflict != 75 || c.Timeout != 5*time.Second {
		t.Errorf("%+v", c)
	}
	if c.Servers.Prefix != "redlockrun:" || !slices.Equal(c.Servers.URLs, []string{"redis://127.0.0.1:6379"}) ||
		c.Address.Local {
		t.Errorf("prefix %q, address %+v", c.Servers.Prefix, c.Address)
	}
	if c.Slot != (lock.Slot{}) || c.History != 50 || c.Attempts != 1 || c.AttemptDelay != 10*time.Second ||
		c.Splay != 0 ||
		c.ReportFile != "" || c.MaxAge.Set {
		t.Errorf("%+v", c)
	}
	if c.Servers.ReplicasTimeout != lock.DefaultReplicasTimeout {
		t.Errorf("%+v", c.Servers)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "this host only") ||
		!strings.Contains(c.Warnings[0], config.DefaultFile) {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// everySetting has, for each flag with a variable, a value that is not the default
// and how to find it in a config.
var everySetting = map[string]struct {
	value string
	found func(config.Config) bool
}{
	"key":                {"k", func(c config.Config) bool { return c.Key == "k" }},
	"ttl":                {"90", func(c config.Config) bool { return c.Times.TTL == 90*time.Second }},
	"wait":               {"5m", func(c config.Config) bool { return c.Wait.Limit == 5*time.Minute }},
	"nonblock":           {"true", func(c config.Config) bool { return c.Wait.Limit == 0 }},
	"lock-retries":       {"7", func(c config.Config) bool { return c.Wait.Retries == 7 }},
	"lock-retry-delay":   {"3", func(c config.Config) bool { return c.Wait.Delay == 3*time.Second }},
	"renew-every":        {"4", func(c config.Config) bool { return c.Times.Renew == 4*time.Second }},
	"grace":              {"6", func(c config.Config) bool { return c.Times.Grace == 6*time.Second }},
	"on-lost":            {"continue", func(c config.Config) bool { return c.OnLost == config.ContinueCommand }},
	"max-runtime":        {"8m", func(c config.Config) bool { return c.MaxRuntime == 8*time.Minute }},
	"min-hold":           {"9", func(c config.Config) bool { return c.MinHold == 9*time.Second }},
	"warn-failed":        {"true", func(c config.Config) bool { return c.WarnFailed }},
	"conflict-exit-code": {"0", func(c config.Config) bool { return c.Conflict == 0 }},
	"warn-held-after":    {"2h", func(c config.Config) bool { return c.WarnHeldAfter == 2*time.Hour }},
	"redis": {"redis://a",
		func(c config.Config) bool { return slices.Equal(c.Servers.URLs, []string{"redis://a"}) }},
	"redis-timeout": {"2.5", func(c config.Config) bool { return c.Timeout == 2500*time.Millisecond }},
	"redis-ca":      {"/ca", func(c config.Config) bool { return c.Servers.CA == "/ca" }},
	"redis-cert":    {"/cert", func(c config.Config) bool { return c.Servers.Cert == "/cert" }},
	"redis-key":     {"/key", func(c config.Config) bool { return c.Servers.Key == "/key" }},
	"redis-server-name": {"db.example",
		func(c config.Config) bool { return c.Servers.ServerName == "db.example" }},
	"redis-password-file":    {"/pw", func(c config.Config) bool { return c.Servers.PasswordFile == "/pw" }},
	"redis-password-command": {"/token", func(c config.Config) bool { return c.PasswordCommand == "/token" }},
	"sentinel-password-file": {"/pw", func(c config.Config) bool { return c.Servers.SentinelPasswordFile == "/pw" }},
	"replicas":               {"2", func(c config.Config) bool { return c.Servers.Replicas == 2 }},
	"replicas-timeout":       {"3", func(c config.Config) bool { return c.Servers.ReplicasTimeout == 3*time.Second }},
	"durable":                {"true", func(c config.Config) bool { return c.Servers.Durable }},
	"local": {"/dir", func(c config.Config) bool {
		return c.Address.Local && c.Address.Dir == "/dir"
	}},
	"prefix":           {"p:", func(c config.Config) bool { return c.Servers.Prefix == "p:" }},
	"key-from-command": {"true", func(c config.Config) bool { return c.Key == "cmd-b8b91ab311fcb0ea" }},
	"once-per": {"300", func(c config.Config) bool {
		return c.Slot.Name == "5m 2026-03-01T11:05Z" && c.SlotPeriod == 5*time.Minute
	}},
	"once": {"job-1", func(c config.Config) bool {
		return c.Slot.Name == "job-1" && c.Slot.Tries == 2 && c.SlotPeriod == 0
	}},
	"tries":         {"7", func(c config.Config) bool { return c.Slot.Tries == 7 }},
	"splay":         {"40", func(c config.Config) bool { return c.Splay == 40*time.Second }},
	"attempts":      {"4", func(c config.Config) bool { return c.Attempts == 4 }},
	"attempt-delay": {"2", func(c config.Config) bool { return c.AttemptDelay == 2*time.Second }},
	"ignore-pause":  {"true", func(c config.Config) bool { return c.IgnorePause }},
	"history":       {"8", func(c config.Config) bool { return c.History == 8 }},
	"permits":       {"3", func(c config.Config) bool { return c.Permits.Of == 3 }},
	"take":          {"all", func(c config.Config) bool { return c.Permits.All }},
	"max-age": {"26h", func(c config.Config) bool {
		return c.MaxAge == lock.MaxAge{Set: true, Limit: 26 * time.Hour}
	}},
	"keep-output": {"16k", func(c config.Config) bool { return c.KeepOutput == 16<<10 }},
	"report-file": {"/r", func(c config.Config) bool { return c.ReportFile == "/r" }},
	"max-waiters": {"3", func(c config.Config) bool { return c.Wait.Max == 3 }},
	"quiet":       {"true", nil},
	"verbose":     {"true", nil},
	"log-level":   {"debug", nil},
	"log-format":  {"json", nil},
}

func TestEverySettingComesByFlagVariableAndFile(t *testing.T) {
	for _, s := range config.Settings() {
		want, ok := everySetting[s.Name]
		if !ok {
			t.Errorf("--%s is not tested", s.Name)
			continue
		}
		ways := map[string]func() (config.Config, error){
			"flag": func() (config.Config, error) { return read(nil, append(keyed(s.Name), s.Name+"="+want.value)...) },
			"variable": func() (config.Config, error) {
				return read(map[string]string{s.Variable(): want.value}, keyed(s.Name)...)
			},
			"file": func() (config.Config, error) {
				return read(configFile(t, s.Variable()+"="+want.value+"\n"), keyed(s.Name)...)
			},
			"quoted": func() (config.Config, error) {
				return read(configFile(t, s.Variable()+"='"+want.value+"'"), keyed(s.Name)...)
			},
		}
		for way, read := range ways {
			c, err := read()
			if s.Name == "key" && (way == "file" || way == "quoted") {
				wantRefused(t, err, "REDLOCKRUN_KEY", ":1")
				continue
			}
			if err != nil || want.found != nil && !want.found(c) {
				t.Errorf("--%s by %s: %v, %+v", s.Name, way, err, c)
			}
		}
	}
}

// keyed returns flags with a key, except for a test of the key itself, and with all others that
// the setting needs.
func keyed(name string) []string {
	switch name {
	case "key", "key-from-command":
		return nil
	case "tries":
		return []string{"key=x", "once=y"}
	case "take":
		return []string{"key=x", "permits=3"}
	}
	return []string{"key=x"}
}

func TestTheHigherSourceWins(t *testing.T) {
	env := configFile(t, "REDLOCKRUN_TTL=10\nREDLOCKRUN_WAIT=11\nREDLOCKRUN_MIN_HOLD=12\n")
	env["REDLOCKRUN_WAIT"], env["REDLOCKRUN_MIN_HOLD"] = "21", "22"
	c, err := read(env, "key=x", "min-hold=32")
	if err != nil || c.Times.TTL != 10*time.Second || c.Wait.Limit != 21*time.Second || c.MinHold != 32*time.Second {
		t.Errorf("ttl %v, wait %v, min-hold %v, %v", c.Times.TTL, c.Wait.Limit, c.MinHold, err)
	}
}

func TestAHigherSourceReplacesTheWholeKind(t *testing.T) {
	env := configFile(t, "REDLOCKRUN_REDIS=redis://file\nREDLOCKRUN_WAIT=9")
	if c, err := read(env, "key=x", "local", "nonblock"); err != nil || !c.Address.Local || c.Address.Dir != "" ||
		c.Wait.Limit != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	env = configFile(t, "REDLOCKRUN_LOCAL=1")
	env["REDLOCKRUN_REDIS"] = "redis://a redis://b\tredis://c"
	if c, err := read(env, "key=x"); err != nil || c.Address.Local || len(c.Servers.URLs) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAFlagThatIsOffLeavesTheOthers(t *testing.T) {
	env := map[string]string{"REDLOCKRUN_WAIT": "9", "REDLOCKRUN_NONBLOCK": "0", "REDLOCKRUN_LOCAL": "no",
		"REDIS_URL": "redis://r"}
	c, err := read(env, "key=x")
	if err != nil || c.Wait.Limit != 9*time.Second || c.Address.From != "REDIS_URL" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRedisURLIsAskedLast(t *testing.T) {
	env := configFile(t, "REDLOCKRUN_REDIS=redis://file")
	env["REDIS_URL"] = "redis://heroku"
	if c, _ := read(env, "key=x"); c.Servers.URLs[0] != "redis://file" {
		t.Errorf("%+v", c.Address)
	}
	delete(env, config.FileVar)
	if c, _ := read(env, "key=x"); c.Servers.URLs[0] != "redis://heroku" || len(c.Warnings) > 0 {
		t.Errorf("%+v", c)
	}
	env["REDIS_URL"] = ""
	_, err := read(env, "key=x")
	wantRefused(t, err, "REDIS_URL is empty")
}

func TestTheSourceOfAnAddressIsNamed(t *testing.T) {
	file := configFile(t, "REDLOCKRUN_REDIS=redis://h")
	for _, c := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, []string{"redis=redis://u:pw@h/1?x=y"}, "from --redis"},
		{map[string]string{"REDLOCKRUN_REDIS": "redis://h"}, nil, "from REDLOCKRUN_REDIS"},
		{file, nil, "from REDLOCKRUN_REDIS in " + file[config.FileVar]},
		{map[string]string{"REDIS_URL": "redis://h"}, nil, "from REDIS_URL"},
		{nil, nil, "from the built-in default"},
		{nil, []string{"local"}, "from --local"},
	} {
		got, err := read(c.env, append([]string{"key=x"}, c.args...)...)
		if err != nil || got.Address.FromSource() != c.want {
			t.Errorf("%v: %q, %v; want %q", c.args, got.Address.FromSource(), err, c.want)
		}
	}
}

func TestErrorsNameTheirSource(t *testing.T) {
	long := strings.Repeat("k", 513)
	for _, c := range []struct {
		env  map[string]string
		args []string
		want []string
	}{
		{nil, nil, []string{"no key", "--key NAME"}},
		{nil, []string{"key="}, []string{"--key is empty"}},
		{nil, []string{"key=" + long}, []string{"--key is longer than 512 bytes"}},
		{nil, []string{"key=a\nb"}, []string{"control character"}},
		{nil, []string{"key=a\xff"}, []string{"UTF-8"}},
		{nil, []string{"key=x", "ttl=1e3"}, []string{`--ttl: "1e3" is not a duration`, "2m30s"}},
		{nil, []string{"key=x", "ttl=0.4"}, []string{"out of range", "7 days"}},
		{nil, []string{"key=x", "ttl=169h"}, []string{"out of range"}},
		{nil, []string{"key=x", "conflict-exit-code=256"}, []string{"--conflict-exit-code"}},
		{nil, []string{"key=x", "conflict-exit-code=-1"}, []string{"--conflict-exit-code"}},
		{nil, []string{"key=x", "on-lost=ignore"}, []string{"stop, continue"}},
		{nil, []string{"key=x", "prefix=a{b"}, []string{"brace"}},
		{nil, []string{"key=x", "redis=a", "local"}, []string{"--redis and --local contradict each other"}},
		{nil, []string{"key=x", "quiet", "verbose"}, []string{"contradict"}},
		{nil, []string{"key=x", "renew-every=0"}, []string{"too short"}},
		{map[string]string{"REDLOCKRUN_TTL": ""}, []string{"key=x"}, []string{"REDLOCKRUN_TTL is empty"}},
		{map[string]string{"REDLOCKRUN_TTL": "x"}, []string{"key=x"}, []string{"REDLOCKRUN_TTL: "}},
		{map[string]string{"REDLOCKRUN_REDIS": " "}, []string{"key=x"}, []string{"REDLOCKRUN_REDIS is empty"}},
		{map[string]string{"REDLOCKRUN_QUIET": "maybe"}, []string{"key=x"},
			[]string{"REDLOCKRUN_QUIET", "neither true nor false"}},
		{map[string]string{"REDLOCKRUN_CONFIG": ""}, []string{"key=x"}, []string{"REDLOCKRUN_CONFIG is empty"}},
		{map[string]string{"REDLOCKRUN_CONFIG": "/nonexistent"}, []string{"key=x"},
			[]string{"read the file that REDLOCKRUN_CONFIG names: no such file"}},
		{map[string]string{"REDLOCKRUN_CONFIG": "/"}, []string{"key=x"}, []string{"not a regular file"}},
	} {
		_, err := read(c.env, c.args...)
		wantRefused(t, err, c.want...)
	}
}

func TestTimesThatDoNotFitSuggestATTL(t *testing.T) {
	for _, args := range [][]string{
		{"ttl=30", "grace=60"},
		{"ttl=0.5", "renew-every=1"},
		{"ttl=5", "renew-every=40", "grace=100"},
	} {
		_, err := read(nil, append([]string{"key=x"}, args...)...)
		wantRefused(t, err, "is too short for", "fits")
		var usage *config.UsageError
		errors.As(err, &usage)
		named := strings.Fields(strings.TrimPrefix(usage.Hints[0], "with these, --ttl "))[0]
		again := append([]string{"key=x"}, args...)
		if _, err := read(nil, append(again, "ttl="+named)...); err != nil {
			t.Errorf("%v with the ttl that was named, %s: %v", args, named, err)
		}
	}
	_, err := read(nil, "key=x", "grace=200h")
	wantRefused(t, err, "no ttl up to 7 days fits")
}

func TestUnknownVariablesAreIgnored(t *testing.T) {
	env := map[string]string{"REDLOCKRUN_PORT": "tcp://10.0.0.1:80", "REDLOCKRUN_PID": "1", "REDLOCKRUN_HELP": "1"}
	if _, err := read(env, "key=x"); err != nil {
		t.Error(err)
	}
}

func TestAPasswordInAFlagCausesAWarning(t *testing.T) {
	for url, warned := range map[string]bool{
		"rediss://u:pw@h": true, "redis://:p@localhost": true, "unix:///s?password=x": true,
		"redis://u@h": false, "redis://h:6379": false, "file:/run/pw": false,
	} {
		c, err := read(nil, "key=x", "redis="+url)
		if err != nil || (len(c.Warnings) == 1) != warned {
			t.Errorf("%s: %q, %v", url, c.Warnings, err)
		}
		if c, _ := read(map[string]string{"REDLOCKRUN_REDIS": url}, "key=x"); len(c.Warnings) > 0 {
			t.Errorf("%s in the environment: %q", url, c.Warnings)
		}
	}
}

func TestEnclosingRunsAreOnlyRunIDs(t *testing.T) {
	run := strings.Repeat("0", 26)
	env := map[string]string{config.HeldRunsVar: run + " rubbish  " + run}
	if c, err := read(env, "key=x"); err != nil || !slices.Equal(c.Enclosing, []string{run, run}) {
		t.Errorf("%q, %v", c.Enclosing, err)
	}
}
