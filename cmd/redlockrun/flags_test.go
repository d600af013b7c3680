package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/runner"
)

// read configures a run as the program would, and returns what it would have
// run. Without a REDLOCKRUN_CONFIG in env there is no file.
func read(env map[string]string, args ...string) (explain.About, error) {
	got, _, err := understand(env, args...)
	return got, err
}

// understand is read that returns the command, too.
func understand(env map[string]string, args ...string) (got explain.About, argv []string, err error) {
	p := newProgram(func(name string) (string, bool) {
		value, set := env[name]
		if name == config.FileVar && !set {
			return "/dev/null", true
		}
		return value, set
	}, discard)
	p.runCommand = func(a *explain.About, words []string) (runner.Status, error) {
		got, argv = *a, words
		return runner.Status{}, nil
	}
	err = p.execute(args)
	return got, argv, err
}

func configFile(t testing.TB, text string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redlockrun")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{config.FileVar: path}
}

func discard([]byte) {}

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

func TestErrorsOfTheCommandLineAreNamed(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"-k", "x"}, []string{"no command", "COMMAND"}},
		{[]string{"-k", "x", "-c", "a", "b"}, []string{"-c and COMMAND"}},
		{[]string{"-k", "x", "-c", ""}, []string{"-c is empty"}},
		{[]string{"-k", "", "true"}, []string{"--key is empty"}},
		{[]string{"-k"}, []string{"-k needs a value"}},
		{[]string{"--nokey", "true"}, []string{"there is no flag --nokey", "did you mean --key?"}},
		{[]string{"--versoin"}, []string{"did you mean --version?"}},
		{[]string{"--timeot", "1", "true"}, []string{"--help lists"}},
		{[]string{"status", "--runing"}, []string{"there is no flag --runing", "did you mean --running?"}},
		{[]string{"history", "--nubmer", "1", "x"}, []string{"did you mean --number?"}},
		{[]string{"status", "--ttl", "1"}, []string{"redlockrun status --help lists"}},
		{[]string{"stauts"}, []string{`no key was given, and stauts is not an operator command`,
			"did you mean redlockrun status?",
			"redlockrun --key NAME -- stauts"}},
		{[]string{"hlep"}, []string{"did you mean redlockrun help?"}},
		{[]string{"-q", "status"}, []string{"after flags, status is COMMAND", "redlockrun status [flags]"}},
		{[]string{"help", "unlok"}, []string{"did you mean redlockrun help unlock?"}},
		{[]string{"ls"}, []string{"no key was given", "two runs with the same NAME"}},
		{[]string{"--wiat", "1", "true"}, []string{"did you mean --wait?"}},
		{[]string{"-xk", "x", "true"}, []string{"there is no flag -x", "exclusive"}},
		{[]string{"-k", "x", "--timeout", "5", "true"},
			[]string{"--wait waits for the lock, --max-runtime ends the command"}},
		{[]string{"-k", "x", "--timeout=5", "true"},
			[]string{"--wait waits for the lock, --max-runtime ends the command"}},
		{[]string{"-k", "x", "--retries", "5", "true"}, []string{"--lock-retries asks for the lock again"}},
		{[]string{"-k", "x", "-t", "1e3", "true"}, []string{`--ttl: "1e3" is not a duration`, "2m30s"}},
		{[]string{"-k", "x", "-E", "-1", "true"}, []string{"--conflict-exit-code"}},
		{[]string{"-k", "x", "--redis", "a", "--local", "true"}, []string{"--redis and --local contradict each other"}},
		{[]string{"-k", "x", "-q", "-v", "true"}, []string{"contradict"}},
	} {
		_, err := read(nil, c.args...)
		wantRefused(t, err, c.want...)
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
		_, argv, err := understand(nil, c.args...)
		if err != nil || !slices.Equal(argv, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.args, argv, err, c.want)
		}
	}
}

// The table of settings cannot know the exit statuses.
func TestABusyLockHasItsStatus(t *testing.T) {
	c, err := read(nil, "-k", "x", "-vv", "true")
	if err != nil || c.Config.Conflict != explain.StatusBusy {
		t.Errorf("%d, %v", c.Config.Conflict, err)
	}
}

func TestTheLevelIsThatOfTheFlags(t *testing.T) {
	for flag, want := range map[string]console.Level{"-q": console.Error, "-v": console.Info, "-vv": console.Debug,
		"-n": console.Warning} {
		p := newProgram(func(name string) (string, bool) { return "/dev/null", name == config.FileVar }, discard)
		p.runCommand = func(*explain.About, []string) (runner.Status, error) { return runner.Status{}, nil }
		err := p.execute([]string{"-k", "x", flag, "true"})
		if err != nil || !p.console.Enabled(want) || p.console.Enabled(want-1) {
			t.Errorf("%s: not %v, %v", flag, want, err)
		}
	}
}
