package runner_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/runner"
)

func TestEveryExitStatusIsPassedOn(t *testing.T) {
	for n := range 256 {
		s, err := execute(t, "/bin/sh", "-c", "exit "+strconv.Itoa(n))
		if err != nil || s.Code != n || s.Signal != 0 || s.Stopped != nil || s.Left != 0 {
			t.Errorf("exit %d: got %+v, %v", n, s, err)
		}
	}
}

func TestACommandEndedByASignalExitsWith128PlusTheSignal(t *testing.T) {
	for n := 1; n <= 64; n++ {
		switch syscall.Signal(n) {
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH, // ignored by default
			syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU: // no end
			continue
		}
		s, err := execute(t, "/bin/sh", "-c", fmt.Sprintf("ulimit -c 0; kill -%d $$", n))
		if err != nil || s.Code != 128+n || s.Signal != syscall.Signal(n) {
			t.Errorf("signal %d: got %+v, %v", n, s, err)
		}
	}
}

func TestArgumentsPassByteForByte(t *testing.T) {
	words := []string{"-la", "--a=b", "-c", "--", "", "two words", `"q"`, "ünï", "\xff\xfe", "a\nb"}
	out := filepath.Join(t.TempDir(), "out")
	s, err := execute(t, append([]string{"/bin/sh", "-c", `cat /proc/$$/cmdline >"$0"`, out}, words...)...)
	if err != nil || s.Code != 0 {
		t.Fatal(s, err)
	}
	text, _ := os.ReadFile(out)
	if want := out + "\x00" + strings.Join(words, "\x00") + "\x00"; !strings.HasSuffix(string(text), want) {
		t.Errorf("got %q, want it to end in %q", text, want)
	}
}

// place writes an executable file, through a child: were it written here, another
// test's fork could keep it open, and executing it would be ETXTBSY.
func place(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `cat >"$0" && chmod "$1" "$0"`, path, fmt.Sprintf("%o", mode))
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
}

func TestTheCommandIsSearchedAsByExecvp(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	place(t, at("a/tool"), "#!/bin/sh\nexit 11\n", 0o755)
	place(t, at("b/tool"), "#!/bin/sh\nexit 12\n", 0o755)
	place(t, at("plain/tool"), "exit $#3\n", 0o755)
	place(t, at("locked/tool"), "#!/bin/sh\nexit 14\n", 0o644)
	place(t, at("lost/tool"), "#!/no/such/interpreter\n", 0o755)
	place(t, at("binary/tool"), "\x7fXYZ\x00\x00\n", 0o755)
	if err := os.MkdirAll(at("folder/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 300)

	for _, c := range []struct {
		what, path, name string
		code             int // the command's, or the runner.StartError's
		message          string
	}{
		{"first of two", at("a") + ":" + at("b"), "tool", 11, ""},
		{"missing directory is passed over", at("none") + ":" + at("b"), "tool", 12, ""},
		{"file in place of a directory is passed over", at("a/tool") + ":" + at("b"), "tool", 12, ""},
		{"not executable is passed over", at("locked") + ":" + at("b"), "tool", 12, ""},
		{"directory is passed over", at("folder") + ":" + at("b"), "tool", 12, ""},
		{"missing interpreter is passed over", at("lost") + ":" + at("b"), "tool", 12, ""},
		{"text without #! is run by sh", at("plain"), "tool", 3, ""},
		{"slash: no search", "/nowhere", at("b/tool"), 12, ""},
		{"nowhere", at("none"), "tool", 127, "not found in PATH"},
		{"slash, nowhere", at("a"), at("none/tool"), 127, "no such file or directory"},
		{"empty name", at("a"), "", 127, "not found"},
		{"not executable is remembered", at("locked") + ":" + at("none"), "tool", 126, "permission denied"},
		{"directory is remembered", at("none") + ":" + at("folder"), "tool", 126, "permission denied"},
		{"not a program", at("binary"), "tool", 126, "exec format error"},
		{"interpreter is named", at("lost"), "tool", 127, `interpreter "/no/such/interpreter"`},
		{"interpreter is named, with a slash", "", at("lost/tool"), 127, `interpreter "/no/such/interpreter"`},
		{"file is no directory", "", at("a/tool/x"), 127, "no such file or directory"},
		{"name too long", "", "/" + long, 126, "file name too long"},
	} {
		cmd := &runner.Command{Argv: []string{c.name}, Env: []string{"PATH=" + c.path}}
		s, err := cmd.Run(t.Context(), nil)
		var start *runner.StartError
		switch {
		case c.message == "":
			if err != nil || s.Code != c.code {
				t.Errorf("%s: got %+v, %v, want status %d", c.what, s, err, c.code)
			}
		case !errors.As(err, &start) || start.Code != c.code || !strings.Contains(err.Error(), c.message):
			t.Errorf("%s: got %+v, %v, want %d, %q", c.what, s, err, c.code, c.message)
		}
	}
}

func TestAnEmptyElementOfPathIsTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "tool"), "#!/bin/sh\nexit 21\n", 0o755)
	t.Chdir(dir)
	for _, path := range []string{"", ":/nowhere", "/nowhere:", "/nowhere::/nowhere", "."} {
		s, err := (&runner.Command{Argv: []string{"tool"}, Env: []string{"PATH=" + path}}).Run(t.Context(), nil)
		if err != nil || s.Code != 21 {
			t.Errorf("PATH=%q: got %+v, %v", path, s, err)
		}
	}
}

func TestWithoutPathTheDefaultPathIsSearched(t *testing.T) {
	s, err := (&runner.Command{Argv: []string{"sh", "-c", "exit 5"}}).Run(t.Context(), nil)
	if err != nil || s.Code != 5 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestATooLongArgumentListExitsWith126(t *testing.T) {
	huge := strings.Repeat("x", 200_000) // MAX_ARG_STRLEN is 128 KiB
	_, err := execute(t, "/bin/true", huge)
	var start *runner.StartError
	if !errors.As(err, &start) || start.Code != 126 || !errors.Is(err, syscall.E2BIG) {
		t.Errorf("got %v", err)
	}
}

func TestProcessesThatStayAreCounted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	s, err := execute(t, "/bin/sh", "-c", `sleep 1000 & echo $! >>"$0"; sleep 1000 & echo $! >>"$0"; exit 4`, pids)
	for _, line := range lines(pids) {
		if pid, err := strconv.Atoi(line); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if err != nil || s.Code != 4 || s.Left != 2 {
		t.Errorf("got %+v, %v, want status 4 and 2 left", s, err)
	}
}

func TestAllOutputArrives(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	c := shell("seq 200000")
	c.Stdout = create(t, out)
	if s, err := c.Run(t.Context(), nil); err != nil || s.Code != 0 {
		t.Fatal(s, err)
	}
	if got := lines(out); len(got) != 200_000 || got[199_999] != "200000" {
		t.Errorf("got %d lines", len(got))
	}
}

func TestAnEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := contextWithCause(t)
	reason := errors.New("too late")
	cancel(reason)
	c := &runner.Command{Argv: []string{"/bin/true"}}
	if _, err := c.Run(ctx, nil); err != reason {
		t.Errorf("got %v, want %v", err, reason)
	}
}

func TestASignalBeforeTheStartStartsNothing(t *testing.T) {
	signals := make(chan os.Signal, 3)
	signals <- syscall.SIGWINCH
	signals <- syscall.SIGTERM
	c := &runner.Command{Argv: []string{"/bin/true"}}
	_, err := c.Run(t.Context(), signals)
	var early *runner.SignalError
	if !errors.As(err, &early) || early.Signal != syscall.SIGTERM {
		t.Errorf("got %v", err)
	}
}
