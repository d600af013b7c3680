package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

// read configures a run as the program would, and returns what it would have
// run. Without a REDLOCKRUN_CONFIG in env there is no file.
func read(env map[string]string, args ...string) (config, error) {
	var got config
	p := newProgram(func(name string) (string, bool) {
		value, set := env[name]
		if name == configVar && !set {
			return "/dev/null", true
		}
		return value, set
	}, discard)
	p.runF = func(c *config) (ending, error) { got = *c; return ending{}, nil }
	err := p.execute(args)
	return got, err
}

func configFile(t testing.TB, text string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redlockrun")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{configVar: path}
}

// wantRefused fails the test unless err is a usage error with all of parts in it.
func wantRefused(t *testing.T, err error, parts ...string) {
	t.Helper()
	var usage *usageError
	if !errors.As(err, &usage) {
		t.Fatalf("got %v, want a usage error", err)
	}
	said := usage.problem + "\n" + strings.Join(usage.hints, "\n")
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("%q does not say %q", said, part)
		}
	}
}

func TestDefaultsAreThoseOfTheHelp(t *testing.T) {
	c, err := read(nil, "-k", "x", "true")
	if err != nil {
		t.Fatal(err)
	}
	if c.times != lock.TimesOf(time.Minute) || c.wait != (lock.Wait{Delay: 200 * time.Millisecond}) {
		t.Errorf("times %+v, wait %+v", c.times, c.wait)
	}
	if c.onLost != stopCommand || c.maxRuntime != 0 || c.minHold != 0 || c.conflict != 75 || c.timeout != 5*time.Second {
		t.Errorf("%+v", c)
	}
	if c.prefix != "redlockrun:" || !slices.Equal(c.address.urls, []string{defaultRedis}) || c.address.local {
		t.Errorf("prefix %q, address %+v", c.prefix, c.address)
	}
	if len(c.warnings) != 1 || !strings.Contains(c.warnings[0], "this host alone") || !strings.Contains(c.warnings[0], defaultConfig) {
		t.Errorf("warnings %q", c.warnings)
	}
}

// everySetting has, for each flag with a variable, a value that is not the default
// and how to find it in a config.
var everySetting = map[string]struct {
	value string
	found func(config) bool
}{
	"key":                    {"k", func(c config) bool { return c.key == "k" }},
	"ttl":                    {"90", func(c config) bool { return c.times.TTL == 90*time.Second }},
	"wait":                   {"5m", func(c config) bool { return c.wait.Limit == 5*time.Minute }},
	"nonblock":               {"true", func(c config) bool { return c.wait.Limit == 0 }},
	"lock-retries":           {"7", func(c config) bool { return c.wait.Retries == 7 }},
	"lock-retry-delay":       {"3", func(c config) bool { return c.wait.Delay == 3*time.Second }},
	"renew-every":            {"4", func(c config) bool { return c.times.Renew == 4*time.Second }},
	"grace":                  {"6", func(c config) bool { return c.times.Grace == 6*time.Second }},
	"on-lost":                {"continue", func(c config) bool { return c.onLost == continueCommand }},
	"max-runtime":            {"8m", func(c config) bool { return c.maxRuntime == 8*time.Minute }},
	"min-hold":               {"9", func(c config) bool { return c.minHold == 9*time.Second }},
	"conflict-exit-code":     {"0", func(c config) bool { return c.conflict == 0 }},
	"warn-held-after":        {"2h", func(c config) bool { return c.warnHeldAfter == 2*time.Hour }},
	"redis":                  {"redis://a", func(c config) bool { return slices.Equal(c.address.urls, []string{"redis://a"}) }},
	"redis-timeout":          {"2.5", func(c config) bool { return c.timeout == 2500*time.Millisecond }},
	"redis-ca":               {"/ca", func(c config) bool { return c.tls.ca == "/ca" }},
	"redis-cert":             {"/cert", func(c config) bool { return c.tls.cert == "/cert" }},
	"redis-key":              {"/key", func(c config) bool { return c.tls.key == "/key" }},
	"redis-password-file":    {"/pw", func(c config) bool { return c.passwords.redis == "/pw" }},
	"sentinel-password-file": {"/pw", func(c config) bool { return c.passwords.sentinel == "/pw" }},
	"replicas":               {"2", func(c config) bool { return c.replicas == 2 }},
	"replicas-timeout":       {"3", func(c config) bool { return c.acking == 3*time.Second }},
	"durable":                {"true", func(c config) bool { return c.durable }},
	"local":                  {"/dir", func(c config) bool { return c.address.local && c.address.dir == "/dir" }},
	"prefix":                 {"p:", func(c config) bool { return c.prefix == "p:" }},
	"max-waiters":            {"3", func(c config) bool { return c.wait.Max == 3 }},
	"quiet":                  {"true", nil},
	"verbose":                {"true", nil},
	"log-level":              {"debug", nil},
	"log-format":             {"json", nil},
}

func TestEverySettingComesByFlagVariableAndFile(t *testing.T) {
	for _, s := range settings() {
		want, ok := everySetting[s.name]
		if !ok {
			t.Errorf("--%s is not tested", s.name)
			continue
		}
		ways := map[string]func() (config, error){
			"flag":     func() (config, error) { return read(nil, "-k", "x", "--"+s.name+"="+want.value, "true") },
			"variable": func() (config, error) { return read(map[string]string{s.variable(): want.value}, keyed(s.name)...) },
			"file":     func() (config, error) { return read(configFile(t, s.variable()+"="+want.value+"\n"), keyed(s.name)...) },
			"quoted":   func() (config, error) { return read(configFile(t, s.variable()+"='"+want.value+"'"), keyed(s.name)...) },
		}
		for way, read := range ways {
			c, err := read()
			if s.name == "key" && (way == "file" || way == "quoted") {
				wantRefused(t, err, "REDLOCKRUN_KEY", ":1")
				continue
			}
			if err != nil || want.found != nil && !want.found(c) {
				t.Errorf("--%s by %s: %v, %+v", s.name, way, err, c)
			}
		}
	}
}

// keyed is a command line with a key, but for a test of the key itself.
func keyed(name string) []string {
	if name == "key" {
		return []string{"true"}
	}
	return []string{"-k", "x", "true"}
}

func TestTheNearerSourceWins(t *testing.T) {
	env := configFile(t, "REDLOCKRUN_TTL=10\nREDLOCKRUN_WAIT=11\nREDLOCKRUN_MIN_HOLD=12\n")
	env["REDLOCKRUN_WAIT"], env["REDLOCKRUN_MIN_HOLD"] = "21", "22"
	c, err := read(env, "-k", "x", "--min-hold", "32", "true")
	if err != nil || c.times.TTL != 10*time.Second || c.wait.Limit != 21*time.Second || c.minHold != 32*time.Second {
		t.Errorf("ttl %v, wait %v, min-hold %v, %v", c.times.TTL, c.wait.Limit, c.minHold, err)
	}
}

func TestANearerKindReplacesTheWholeKind(t *testing.T) {
	env := configFile(t, "REDLOCKRUN_REDIS=redis://file\nREDLOCKRUN_WAIT=9")
	if c, err := read(env, "-k", "x", "--local", "-n", "true"); err != nil || !c.address.local || c.address.dir != "" || c.wait.Limit != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	env = configFile(t, "REDLOCKRUN_LOCAL=1")
	env["REDLOCKRUN_REDIS"] = "redis://a redis://b\tredis://c"
	if c, err := read(env, "-k", "x", "true"); err != nil || c.address.local || len(c.address.urls) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAFlagThatIsOffLeavesTheOthers(t *testing.T) {
	env := map[string]string{"REDLOCKRUN_WAIT": "9", "REDLOCKRUN_NONBLOCK": "0", "REDLOCKRUN_LOCAL": "no", "REDIS_URL": "redis://r"}
	c, err := read(env, "-k", "x", "true")
	if err != nil || c.wait.Limit != 9*time.Second || c.address.from != "REDIS_URL" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRedisURLIsAskedLast(t *testing.T) {
	env := configFile(t, "REDLOCKRUN_REDIS=redis://file")
	env["REDIS_URL"] = "redis://heroku"
	if c, _ := read(env, "-k", "x", "true"); c.address.urls[0] != "redis://file" {
		t.Errorf("%+v", c.address)
	}
	delete(env, configVar)
	if c, _ := read(env, "-k", "x", "true"); c.address.urls[0] != "redis://heroku" || len(c.warnings) > 0 {
		t.Errorf("%+v", c)
	}
	env["REDIS_URL"] = ""
	_, err := read(env, "-k", "x", "true")
	wantRefused(t, err, "REDIS_URL is empty")
}

func TestWhereAnAddressCameFromIsNamed(t *testing.T) {
	file := configFile(t, "REDLOCKRUN_REDIS=redis://h")
	for _, c := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, []string{"--redis", "redis://u:pw@h/1?x=y"}, "from --redis"},
		{map[string]string{"REDLOCKRUN_REDIS": "redis://h"}, nil, "from REDLOCKRUN_REDIS"},
		{file, nil, "from REDLOCKRUN_REDIS in " + file[configVar]},
		{map[string]string{"REDIS_URL": "redis://h"}, nil, "from REDIS_URL"},
		{nil, nil, "from the built-in default"},
		{nil, []string{"--local"}, "from --local"},
	} {
		got, err := read(c.env, append(append([]string{"-k", "x"}, c.args...), "true")...)
		if err != nil || got.address.whence() != c.want {
			t.Errorf("%v: %q, %v; want %q", c.args, got.address.whence(), err, c.want)
		}
	}
}

func TestWhatIsWrongIsNamedWithItsSource(t *testing.T) {
	long := strings.Repeat("k", 513)
	for _, c := range []struct {
		env  map[string]string
		args []string
		want []string
	}{
		{nil, []string{"true"}, []string{"no key", "--key NAME"}},
		{nil, []string{"-k", "x"}, []string{"no command", "COMMAND"}},
		{nil, []string{"-k", "x", "-c", "a", "b"}, []string{"besides -c"}},
		{nil, []string{"-k", "x", "-c", ""}, []string{"-c is empty"}},
		{nil, []string{"-k", "", "true"}, []string{"--key is empty"}},
		{nil, []string{"-k", long, "true"}, []string{"--key is longer than 512 bytes"}},
		{nil, []string{"-k", "a\nb", "true"}, []string{"control character"}},
		{nil, []string{"-k", "a\xff", "true"}, []string{"UTF-8"}},
		{nil, []string{"-k"}, []string{"-k needs a value"}},
		{nil, []string{"--nokey", "true"}, []string{"there is no flag --nokey", "did you mean --key?"}},
		{nil, []string{"--wiat", "1", "true"}, []string{"did you mean --wait?"}},
		{nil, []string{"-xk", "x", "true"}, []string{"there is no flag -x", "exclusive"}},
		{nil, []string{"-k", "x", "--timeout", "5", "true"}, []string{"--wait waits for the lock, --max-runtime ends the command"}},
		{nil, []string{"-k", "x", "--timeout=5", "true"}, []string{"--wait waits for the lock, --max-runtime ends the command"}},
		{nil, []string{"-k", "x", "-t", "1e3", "true"}, []string{`--ttl: "1e3" is no duration`, "2m30s"}},
		{nil, []string{"-k", "x", "-t", "0.4", "true"}, []string{"out of range", "7 days"}},
		{nil, []string{"-k", "x", "-t", "169h", "true"}, []string{"out of range"}},
		{nil, []string{"-k", "x", "-E", "256", "true"}, []string{"--conflict-exit-code"}},
		{nil, []string{"-k", "x", "-E", "-1", "true"}, []string{"--conflict-exit-code"}},
		{nil, []string{"-k", "x", "--on-lost", "ignore", "true"}, []string{"stop, continue"}},
		{nil, []string{"-k", "x", "--prefix", "a{b", "true"}, []string{"brace"}},
		{nil, []string{"-k", "x", "--redis", "a", "--local", "true"}, []string{"--redis and --local contradict each other"}},
		{nil, []string{"-k", "x", "-q", "-v", "true"}, []string{"contradict"}},
		{nil, []string{"-k", "x", "--renew-every", "0", "true"}, []string{"too short"}},
		{map[string]string{"REDLOCKRUN_TTL": ""}, []string{"-k", "x", "true"}, []string{"REDLOCKRUN_TTL is empty"}},
		{map[string]string{"REDLOCKRUN_TTL": "x"}, []string{"-k", "x", "true"}, []string{"REDLOCKRUN_TTL: "}},
		{map[string]string{"REDLOCKRUN_REDIS": " "}, []string{"-k", "x", "true"}, []string{"REDLOCKRUN_REDIS is empty"}},
		{map[string]string{"REDLOCKRUN_QUIET": "maybe"}, []string{"-k", "x", "true"}, []string{"REDLOCKRUN_QUIET", "neither true nor false"}},
		{map[string]string{"REDLOCKRUN_CONFIG": ""}, []string{"-k", "x", "true"}, []string{"REDLOCKRUN_CONFIG is empty"}},
		{map[string]string{"REDLOCKRUN_CONFIG": "/nonexistent"}, []string{"-k", "x", "true"}, []string{"read the file that REDLOCKRUN_CONFIG names: no such file"}},
		{map[string]string{"REDLOCKRUN_CONFIG": "/"}, []string{"-k", "x", "true"}, []string{"no regular file"}},
	} {
		_, err := read(c.env, c.args...)
		wantRefused(t, err, c.want...)
	}
}

func TestV8TimesThatDoNotFitNameATTLThatWould(t *testing.T) {
	for _, args := range [][]string{
		{"--ttl", "30", "--grace", "60"},
		{"--ttl", "0.5", "--renew-every", "1"},
		{"--ttl", "5", "--renew-every", "40", "--grace", "100"},
	} {
		_, err := read(nil, append(append([]string{"-k", "x"}, args...), "true")...)
		wantRefused(t, err, "has no room for", "fits")
		var usage *usageError
		errors.As(err, &usage)
		named := strings.Fields(strings.TrimPrefix(usage.hints[0], "with these, --ttl "))[0]
		again := append([]string{"-k", "x"}, args...)
		if _, err := read(nil, append(again, "--ttl", named, "true")...); err != nil {
			t.Errorf("%v with the ttl that was named, %s: %v", args, named, err)
		}
	}
	_, err := read(nil, "-k", "x", "--grace", "200h", "true")
	wantRefused(t, err, "no ttl up to 7 days fits")
}

func TestUnknownVariablesAreIgnored(t *testing.T) {
	env := map[string]string{"REDLOCKRUN_PORT": "tcp://10.0.0.1:80", "REDLOCKRUN_PID": "1", "REDLOCKRUN_HELP": "1"}
	if _, err := read(env, "-k", "x", "true"); err != nil {
		t.Error(err)
	}
}

func TestParsingStopsAtTheCommand(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"-k", "x", "ls", "-la", "--key=y", "--", "-c", ""}, []string{"ls", "-la", "--key=y", "--", "-c", ""}},
		{[]string{"-k", "x", "--", "ls", "-la"}, []string{"ls", "-la"}},
		{[]string{"-k", "x", "--", "--", "-k"}, []string{"--", "-k"}},
		{[]string{"-k", "x", "help"}, []string{"help"}},
		{[]string{"-k", "x", "completion", "bash"}, []string{"completion", "bash"}},
		{[]string{"-k", "x", "__complete", ""}, []string{"__complete", ""}},
		{[]string{"-k", "x", "--", "status"}, []string{"status"}},
		{[]string{"-kx", "-nE", "3", "a b", "$c"}, []string{"a b", "$c"}},
		{[]string{"-k", "x", "-c", "echo $0 a"}, []string{"/bin/sh", "-c", "echo $0 a"}},
		{[]string{"-k", "x", "--local", "/dir/cmd"}, []string{"/dir/cmd"}},
	} {
		got, err := read(nil, c.args...)
		if err != nil || !slices.Equal(got.command, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.args, got.command, err, c.want)
		}
	}
}

func TestS4APasswordInPlainTextIsWarnedOf(t *testing.T) {
	for url, warned := range map[string]bool{
		"redis://:p@10.0.0.1": true, "redis://u:p@db.example:7": true, "redis+sentinel://:p@127.0.0.1,s2/m": true,
		"redis+sentinel://s1/m?sentinel_password=p": true, "redis+cluster://:p@[fe80::1]": true,
		"redis://:p@127.0.0.1": false, "redis://:p@localhost": false, "redis://:p@[::1]": false, "rediss://:p@h": false,
		"rediss+sentinel://:p@h/m": false, "unix:///s": false, "redis://h": false, "redis://:p@h:x": false,
	} {
		c, err := read(map[string]string{"REDLOCKRUN_REDIS": url}, "-k", "x", "true")
		if err != nil || (len(c.warnings) == 1) != warned {
			t.Errorf("%s: %q, %v", url, c.warnings, err)
		}
	}
	file := filepath.Join(t.TempDir(), "pw")
	c, err := read(map[string]string{"REDLOCKRUN_REDIS": "redis://h", "REDLOCKRUN_REDIS_PASSWORD_FILE": file}, "-k", "x", "true")
	if err != nil || len(c.warnings) != 1 {
		t.Errorf("a password file: %q, %v", c.warnings, err)
	}
}

func TestS1APasswordInAFlagIsWarnedOf(t *testing.T) {
	for url, warned := range map[string]bool{
		"rediss://u:pw@h": true, "redis://:p@localhost": true, "unix:///s?password=x": true, "redis://u@h": false, "redis://h:6379": false, "file:/run/pw": false,
	} {
		c, err := read(nil, "-k", "x", "--redis", url, "true")
		if err != nil || (len(c.warnings) == 1) != warned {
			t.Errorf("%s: %q, %v", url, c.warnings, err)
		}
		if c, _ := read(map[string]string{"REDLOCKRUN_REDIS": url}, "-k", "x", "true"); len(c.warnings) > 0 {
			t.Errorf("%s in the environment: %q", url, c.warnings)
		}
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	for _, s := range settings() {
		if !strings.Contains(help, "--"+s.name) {
			t.Errorf("the help lacks --%s", s.name)
		}
		if s.short != "" && !strings.Contains(help, "-"+s.short+", --"+s.name) {
			t.Errorf("the help lacks -%s", s.short)
		}
	}
	for _, line := range strings.Split(help, "\n") {
		if len(line) > 90 {
			t.Errorf("the help has a line of %d characters: %s", len(line), line)
		}
	}
}

func TestEnclosingRunsAreOnlyRunIDs(t *testing.T) {
	run := strings.Repeat("0", 26)
	env := map[string]string{heldRunsVar: run + " rubbish  " + run}
	if c, err := read(env, "-k", "x", "true"); err != nil || !slices.Equal(c.enclosing, []string{run, run}) {
		t.Errorf("%q, %v", c.enclosing, err)
	}
}

func TestInnerVariablesReplaceTheOuterOnes(t *testing.T) {
	got := with([]string{"A=1", heldKeyVar + "=outer", "B", heldKeyVar + "=again"}, [][2]string{{heldKeyVar, "inner"}})
	if !slices.Equal(got, []string{"A=1", "B", heldKeyVar + "=inner"}) {
		t.Errorf("%q", got)
	}
}
