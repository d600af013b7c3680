package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/capture"
	"redlockrun/internal/proof/redistest"
	"redlockrun/internal/runner"
	"redlockrun/internal/session"
	"redlockrun/internal/store"
)

// The password in a test is a text between two that occur nowhere else.
const opening, closing = "Pw0pen", "Pw0end"

// writtenURLs are URLs with a password, encoded well and not.
func writtenURLs(password string) (urls []string) {
	for _, form := range slices.Compact([]string{password, url.PathEscape(password), url.QueryEscape(password)}) {
		for _, shape := range []string{
			"redis://:%s@127.0.0.1:1", "redis://user:%s@127.0.0.1:1/0", "redis://%s@127.0.0.1:1",
			"rediss://u:%s@127.0.0.1:1/x",
			"unix:///nowhere?password=%s", "unix://u:%s@/nowhere", "redis://127.0.0.1:1?password=%s",
			"redis+cluster://:%s@127.0.0.1:1",
			"redis+sentinel://:%s@127.0.0.1:1/m", "http://u:%s@h", "redis:%s@h", "//u:%s@h", "redis://127.0.0.1:1/%s",
		} {
			urls = append(urls, fmt.Sprintf(shape, form))
		}
	}
	return urls
}

// showsSecret reports a part of the password, in whatever form.
func showsSecret(text string) bool {
	return strings.Contains(text, opening) || strings.Contains(text, closing)
}

// outputOfAll is all that the program says about a URL from each of its sources.
func outputOfAll(t testing.TB, raw string) string {
	file := filepath.Join(t.TempDir(), "file")
	quoted := "REDLOCKRUN_REDIS='" + strings.ReplaceAll(raw, "'", "") + "'\n"
	if err := os.WriteFile(file, []byte(quoted+raw+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var all string
	for _, c := range []struct {
		args []string
		env  map[string]string
	}{
		{[]string{"--redis", raw}, nil},
		{[]string{"--redis=" + raw}, nil},
		{[]string{"--redis" + raw}, nil},
		{[]string{"-x" + raw}, nil},
		{[]string{"--" + raw}, nil},
		{[]string{"--ttl", raw}, nil},
		{[]string{"--redis", "file:" + file}, nil},
		{[]string{"--redis", raw, "--redis", raw, "--redis", raw}, nil},
		{nil, map[string]string{"REDLOCKRUN_REDIS": raw}},
		{nil, map[string]string{"REDLOCKRUN_WAIT": raw}},
		{nil, map[string]string{"REDIS_URL": raw}},
		{nil, map[string]string{config.FileVar: file}},
	} {
		for _, format := range []string{"text", "json"} {
			all += outputOf(append([]string{"-k", "x", "-vv", "--log-format", format, "--redis-timeout", "0.001"},
				append(c.args, "true")...), c.env)
		}
	}
	return all
}

// outputOf runs the program up to the point where it would ask the store, and on if
// that is refused at once.
func outputOf(args []string, env map[string]string) string {
	var out capture.Output
	p := newProgram(func(name string) (string, bool) {
		value, set := env[name]
		if name == config.FileVar && !set {
			return "/dev/null", true
		}
		return value, set
	}, out.Add)
	p.runCommand = func(c *explain.About, argv []string) (runner.Status, error) {
		s := session.New(c, argv, p.console, nil)
		for _, warning := range slices.Concat(c.Config.Warnings, store.ExposedPasswords(&c.Config)) {
			s.Warn(console.EventConfig, warning)
		}
		store, _, err := s.Open()
		if err != nil {
			return runner.Status{}, err
		}
		defer store.Close()
		_, err = store.Acquire(context.Background(), s.Request())
		return runner.Status{}, err
	}
	err := p.execute(args)
	explain.Of(err, p.about).Report(p.console)
	p.console.Flush(patience)
	return out.String()
}

func TestNoPasswordIsEverShown(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for _, middle := range []string{
		"plain", "/", "#", "%", "@", ":", " ", "a/b#c%d@e:f g", "%41", "?", "?password=", "'", "\"", "\n", "\x1b[31m",
		"\xff",
	} {
		for _, raw := range writtenURLs(opening + middle + closing) {
			if text := outputOfAll(t, raw); showsSecret(text) {
				t.Errorf("%q: %s", raw, text)
			}
		}
	}
}

// outputForSetting is all that the program says when setting has value: from a flag, a
// variable and the file, where each of them may stand.
func outputForSetting(t testing.TB, s config.Setting, value string) (all string) {
	file := configFile(t, s.Variable()+"='"+strings.ReplaceAll(value, "'", "")+"'\n")
	all += outputOf(append(alongside(s), "--"+s.Name+"="+value, "--log-format=text", "true"), nil)
	all += outputOf(append(alongside(s), "--log-format=json", "true"), map[string]string{s.Variable(): value})
	return all + outputOf(append(alongside(s), "true"), file)
}

// alongside are the flags that let a wrong value of setting be reached.
func alongside(s config.Setting) []string {
	args := []string{"--redis-timeout", "0.001"}
	switch s.Name {
	case "quiet", "verbose", "log-level":
	default:
		args = append(args, "-vv")
	}
	if s.Name != "key" {
		args = append(args, "-k", "x")
	}
	switch s.Name {
	case "redis", "local":
		return args
	case "redis-ca":
		return append(args, "--redis", "rediss://127.0.0.1:1")
	case "redis-cert":
		return append(args, "--redis", "rediss://127.0.0.1:1", "--redis-key", "/dev/null")
	case "redis-key":
		return append(args, "--redis", "rediss://127.0.0.1:1", "--redis-cert", "/dev/null")
	case "sentinel-password-file":
		return append(args, "--redis", "redis+sentinel://127.0.0.1:1/m")
	}
	return append(args, "--redis", "redis://127.0.0.1:1")
}

// Whatever a setting should have been, a URL, a file: and a lone password in its
// place are not shown. A key is a name, which is.
func TestNoSettingShowsAPassword(t *testing.T) {
	ability.Slow(t)
	for _, s := range append(config.Settings(), config.Setting{Name: "config"}) {
		for _, raw := range append(writtenURLs(opening+"/%41@: #"+closing), writtenURLs(opening+closing)...) {
			values := []string{raw, "file:" + raw}
			if s.Name == "redis-password-file" || s.Name == "sentinel-password-file" {
				values = append(values, opening+closing)
			}
			for _, value := range values {
				t.Chdir(t.TempDir()) // where a relative directory may be made
				if text := outputForSetting(t, s, value); s.Name != "key" && showsSecret(text) {
					t.Errorf("--%s %q: %s", s.Name, value, text)
				}
			}
		}
	}
}

// A URL where the command should be is one for which --redis was forgotten.
func TestACommandThatIsAURLIsNotShown(t *testing.T) {
	c := explain.About{}
	for _, raw := range writtenURLs(opening + closing) {
		o := explain.Of(&runner.StartError{Name: raw, Code: 127, Err: errors.New("not found")}, c)
		if said := o.Message + strings.Join(o.Hints, ""); showsSecret(said) {
			t.Errorf("%q: %s", raw, said)
		}
	}
}

func FuzzNoPasswordIsEverShown(f *testing.F) {
	f.Add("@/", uint8(5)) // a socket's path with the rest of a password in it
	f.Add("/#%@: ", uint8(0))
	f.Add("@redis://", uint8(7))
	f.Fuzz(func(t *testing.T, middle string, shape uint8) {
		urls := writtenURLs(opening + middle + closing)
		raw := urls[int(shape)%len(urls)]
		if strings.Contains(raw, "\x00") {
			return // cannot be in an argument
		}
		if text := outputOfAll(t, raw); showsSecret(text) {
			t.Fatalf("%q: %s", raw, text)
		}
	})
}

// The true program, all the way, at the highest level: right passwords and
// wrong ones, on stderr, on stdout and in the arguments of its processes.
func TestTheProgramShowsNoPassword(t *testing.T) {
	t.Parallel()
	password := opening + "/#%@: " + closing
	s := redistest.Start(t, redistest.Options{Password: password})
	right := (&url.URL{Scheme: "redis", User: url.UserPassword("", password), Host: s.Addr()}).String()
	wrong := (&url.URL{Scheme: "redis", User: url.UserPassword("nobody", password), Host: s.Addr()}).String()
	for _, c := range []struct {
		url    string
		status int
	}{{right, 0}, {wrong, 69}} {
		cmd := exec.Command(binary(t), "-k", "job", "-vv", "-c",
			"cat /proc/$PPID/cmdline /proc/$$/cmdline; ps -eo args 2>/dev/null || true")
		cmd.Env = append(os.Environ(), config.FileVar+"=/dev/null", "REDLOCKRUN_REDIS="+c.url)
		out, _ := cmd.CombinedOutput()
		if got := statusOf(cmd.ProcessState); got != c.status || showsSecret(string(out)) {
			t.Errorf("status %d, want %d; said %s", got, c.status, out)
		}
	}
}
