package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/proof/redistest"
)

// Texts by which a proxy knows the requests of a run.
const (
	acquiring = " once" // the mode without a wait
	renewing  = "redis.call('PEXPIRE', KEYS[1], ARGV[2])"
	releasing = "local function keep_on"
)

// A process is the true program, with a test looking on.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	done chan struct{} // closed when it has been reaped
	said string        // the file with its stderr
}

// launch runs redlockrun with args against url, in a group of its own. The
// test ends it.
func launch(t testing.TB, url string, args ...string) *process {
	t.Helper()
	return launchCommand(t, url, exec.Command(binary(t), args...))
}

// launchCommand is launch for a redlockrun that the caller has prepared.
func launchCommand(t testing.TB, url string, cmd *exec.Cmd) *process {
	t.Helper()
	said, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	return launchAs(t, url, said, cmd)
}

func launchWith(t testing.TB, url string, stderr *os.File, args ...string) *process {
	t.Helper()
	return launchAs(t, url, stderr, exec.Command(binary(t), args...))
}

func launchAs(t testing.TB, url string, stderr *os.File, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, done: make(chan struct{}), said: stderr.Name()}
	p.cmd.Env = append(append(os.Environ(), p.cmd.Env...), config.FileVar+"=/dev/null", "REDLOCKRUN_REDIS="+url)
	p.cmd.Stderr = stderr
	if p.cmd.SysProcAttr == nil {
		p.cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	p.cmd.SysProcAttr.Setpgid = true
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.done); p.cmd.Wait() }()
	t.Cleanup(func() { p.cmd.Process.Signal(syscall.SIGCONT); p.kill() })
	return p
}

func (p *process) signal(sig syscall.Signal) { p.cmd.Process.Signal(sig) }

// kill ends it by SIGKILL and reaps it.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *process) stderr() string {
	text, err := os.ReadFile(p.said)
	if err != nil {
		p.t.Error(err)
	}
	return string(text)
}

// ends fails the test unless the process ends with one of statuses.
func (p *process) ends(statuses ...int) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("%q runs and runs\n%s", p.cmd.Args, p.stderr())
	}
	got := statusOf(p.cmd.ProcessState)
	for _, want := range statuses {
		if got == want {
			return
		}
	}
	p.t.Fatalf("%q: status %d, want %d\n%s", p.cmd.Args, got, statuses, p.stderr())
}

// until fails the test unless a state comes.
func until(t testing.TB, what string, state func() bool) {
	t.Helper()
	if !redistest.Until(patience, state) {
		t.Fatalf("%s: it did not come", what)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// untilRuns waits until n runs have written into a job's log.
func untilRuns(t testing.TB, path string, n int) {
	t.Helper()
	until(t, strconv.Itoa(n)+" runs in "+path, func() bool { return len(runsOf(t, path)) >= n })
}

// guardOf is the process id of p's guard; 0 if there is none.
func guardOf(p *process) int {
	children, err := filepath.Glob("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/task/*/children")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, file := range children {
		text, _ := os.ReadFile(file)
		for _, child := range strings.Fields(string(text)) {
			name, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.HasPrefix(string(name), "lease-guard\x00") {
				pid, _ := strconv.Atoi(child)
				return pid
			}
		}
	}
	return 0
}

// wantSilent checks that the user was told nothing.
func (p *process) wantSilent() {
	p.t.Helper()
	if said := p.stderr(); said != "" {
		p.t.Errorf("said %q", said)
	}
}

// over reports that the process has ended.
func (p *process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
