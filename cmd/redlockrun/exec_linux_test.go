package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/ability"
	"redlockrun/internal/redistest"

	"golang.org/x/sys/unix"
)

// An absent file does not come when it is opened, as on a file server that is gone:
// a lease on it (fcntl(2), F_SETLEASE) keeps whoever opens it waiting.
type absent struct {
	t    *testing.T
	file *os.File
}

// absentFile writes an executable file that does not come until it is let go.
func absentFile(t *testing.T, path, text string) *absent {
	t.Helper()
	ability.Need(t, ability.Leases)
	writeExecutable(t, path, text)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Fatal(err)
	}
	return &absent{t, file}
}

// absentCommand is an absent file that leaves a trace if it is run.
func absentCommand(t *testing.T, path string) *absent {
	t.Helper()
	return absentFile(t, path, "#!/bin/sh\n: >"+path+".ran\n")
}

// wanted waits until somebody opens the file.
func (a *absent) wanted() {
	a.t.Helper()
	until(a.t, "the opening of the file", a.opened)
}

// wantedBy is wanted by a run, which must not end before.
func (a *absent) wantedBy(p *process) {
	a.t.Helper()
	until(a.t, "the opening of the file", func() bool { return a.opened() || p.over() })
	if !a.opened() {
		a.t.Fatalf("%q: status %d before the file was opened\n%s", p.cmd.Args, statusOf(p.cmd.ProcessState), p.stderr())
	}
}

// opened reports whether somebody waits for the file: the lease is to end.
func (a *absent) opened() bool {
	kind, err := unix.FcntlInt(a.file.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind != unix.F_WRLCK
}

func (a *absent) come() {
	a.t.Helper()
	if _, err := unix.FcntlInt(a.file.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
		a.t.Fatal(err)
	}
}

// absentSecondInterpreter writes an executable file whose interpreter's
// interpreter is absent.
func absentSecondInterpreter(t *testing.T) (second *absent, path string) {
	t.Helper()
	dir := t.TempDir()
	path, first := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	second = absentCommand(t, filepath.Join(dir, "c"))
	writeExecutable(t, first, "#!"+second.file.Name()+"\n")
	writeExecutable(t, path, "#!"+first+"\n")
	return second, path
}

// comesInVain lets the file come and checks that it has not been run.
func (a *absent) comesInVain() {
	a.t.Helper()
	a.come()
	if exists(a.file.Name() + ".ran") {
		a.t.Error("the command ran without its lock")
	}
}

func TestTheLockIsRenewedWhileTheFileDoesNotCome(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"interpreter", "command"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			dir := t.TempDir()
			file := absentFile(t, filepath.Join(dir, "interpreter"), "#!/bin/sh\nexit 7\n")
			writeExecutable(t, filepath.Join(dir, "command"), "#!"+filepath.Join(dir, "interpreter")+"\n")
			run := launch(t, s.URL(), "-k", "job", "--ttl", "2", filepath.Join(dir, what))
			file.wantedBy(run)
			for end := time.Now().Add(4 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
				if held, err := s.Do("EXISTS", key); err != nil || held != int64(1) {
					t.Fatalf("the lock is gone (%v, %v)\n%s", held, err, run.stderr())
				}
			}
			file.come()
			run.ends(7)
		})
	}
}

func TestACommandThatComesAfterTheLockIsLostIsNotStarted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	path := filepath.Join(t.TempDir(), "command")
	file := absentCommand(t, path)
	run := launch(t, s.URL(), "-k", "job", "--ttl", "2", path)
	file.wantedBy(run)
	if _, err := s.Do("SET", key, "another"); err != nil {
		t.Fatal(err)
	}
	run.endsSoon(76)
	if !strings.Contains(run.stderr(), "; nothing was run\n") {
		t.Errorf("it said %q", run.stderr())
	}
	file.comesInVain()
}

func TestARunWhoseFileDoesNotComeCanBeEnded(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	path := filepath.Join(t.TempDir(), "command")
	file := absentCommand(t, path)
	limited := launch(t, s.URL(), "-k", "limited", "--max-runtime", "1", path)
	run := launch(t, s.URL(), "-k", "job", path)
	file.wantedBy(run)
	limited.endsSoon(124)
	run.signal(unix.SIGTERM)
	run.endsSoon(143)
	if held, err := s.Do("EXISTS", key); err != nil || held != int64(0) {
		t.Errorf("the lock was not given back (%v, %v)", held, err)
	}
	file.comesInVain()
}

func TestTheTimeThatTheFileTakesIsNotTheCommands(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	path := filepath.Join(t.TempDir(), "command")
	file := absentFile(t, path, "#!/bin/sh\nsleep 4\nexit 7\n")
	run := launch(t, s.URL(), "-k", "job", "--max-runtime", "6", path)
	file.wantedBy(run)
	<-time.After(3 * time.Second)
	file.come()
	run.ends(7)
}

// For as long as execve(2) hangs the lease is renewed, whatever the collector of a
// busy program would do meanwhile.
func TestTheLockIsRenewedWhileExecveHangs(t *testing.T) {
	t.Parallel()
	for where, command := range surroundings() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			file, path := absentSecondInterpreter(t)
			cmd := command(t, "-k", "job", "--ttl", "2", path)
			cmd.Env = []string{"GOGC=1", "GOMEMLIMIT=1MiB", "GOMAXPROCS=1"}
			run := launchCommand(t, s.URL(), cmd)
			file.wantedBy(run)
			owner, err := s.Do("GET", key)
			if err != nil || owner == nil {
				t.Fatalf("the lock is not held (%v, %v)", owner, err)
			}
			for end := time.Now().Add(6 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
				if now, err := s.Do("GET", key); err != nil || now != owner {
					t.Fatalf("the lock was lost (%v, %v)\n%s", now, err, run.stderr())
				}
			}
			file.come()
			run.ends(0)
			run.saidNothing()
			if !exists(file.file.Name() + ".ran") {
				t.Error("the command was not run")
			}
		})
	}
}

func TestASignalEndsARunWhoseExecveHangs(t *testing.T) {
	t.Parallel()
	for where, command := range surroundings() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			file, path := absentSecondInterpreter(t)
			run := launchCommand(t, s.URL(), command(t, "-k", "job", "-v", path))
			file.wantedBy(run)
			inner, child := hanging(t, run)
			if err := unix.Kill(inner, unix.SIGTERM); err != nil {
				t.Fatal(err)
			}
			run.endsSoon(143)
			if !strings.Contains(run.stderr(), "; nothing was run\n") {
				t.Errorf("it said %q", run.stderr())
			}
			if lives(child) {
				t.Error("what hung in execve outlived it")
			}
			gone(t, s)
			file.comesInVain()
		})
	}
}

func TestExecveThatHangsBeyondTheLeaseNeverBecomesTheCommand(t *testing.T) {
	t.Parallel()
	for where, command := range surroundings() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			file, path := absentSecondInterpreter(t)
			run := launchCommand(t, s.URL(), command(t, "-k", "job", "--ttl", "2", path))
			file.wantedBy(run)
			if err := s.Signal(unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			run.endsSoon(76)
			if !strings.Contains(run.stderr(), "; nothing was run\n") {
				t.Errorf("it said %q", run.stderr())
			}
			file.comesInVain()
		})
	}
}

// The guard alone is left, and has not been told whom to kill.
func TestExecveThatHangsUnderAKilledRunNeverBecomesTheCommand(t *testing.T) {
	t.Parallel()
	for where, command := range surroundings() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			file, path := absentSecondInterpreter(t)
			run := launchCommand(t, s.URL(), command(t, "-k", "job", "--ttl", "600", path))
			file.wantedBy(run)
			inner, child := hanging(t, run)
			began := time.Now()
			if err := unix.Kill(inner, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			until(t, "the end of what hangs in execve", func() bool { return !lives(child) })
			if took := time.Since(began); took > time.Second { // 100 ms, and what a busy machine takes
				t.Errorf("it lived for %v", took)
			}
			file.comesInVain()
		})
	}
}

// surroundings are where execve may hang.
func surroundings() map[string]func(testing.TB, ...string) *exec.Cmd {
	return map[string]func(testing.TB, ...string) *exec.Cmd{
		"here":                                func(t testing.TB, args ...string) *exec.Cmd { return exec.Command(binary(t), args...) },
		"in a namespace entered from outside": outsideCommand,
		"as PID 1":                            initCommand,
	}
}

// hanging waits for a run whose child hangs in execve: it still has the run's own
// command line.
func hanging(t testing.TB, p *process) (run, child int) {
	t.Helper()
	until(t, "a child that hangs in execve", func() bool {
		family := descendants(p.cmd.Process.Pid)
		for _, pid := range family {
			for _, other := range family {
				if parentNumber(other) == pid && cmdlineOf(other) == cmdlineOf(pid) && strings.HasPrefix(cmdlineOf(pid), binary(t)+"\x00") {
					run, child = pid, other
					return true
				}
			}
		}
		return false
	})
	return run, child
}

// descendants are a process and all that it has started.
func descendants(pid int) []int {
	all := []int{pid}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if child, err := strconv.Atoi(filepath.Base(dir)); err == nil && parentNumber(child) == pid {
			all = append(all, descendants(child)...)
		}
	}
	return all
}

func parentNumber(pid int) (parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fmt.Sscanf(string(text[bytes.LastIndexByte(text, ')')+1:]), " %c %d", new(rune), &parent)
	return parent
}

func cmdlineOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(text)
}

// lives reports that a process has not ended: a zombie has no command line.
func lives(pid int) bool { return cmdlineOf(pid) != "" }

// endsSoon is ends, before the kernel has enough of the lease (/proc/sys/fs/lease-break-time: 45 s).
func (p *process) endsSoon(status int) {
	p.t.Helper()
	began := time.Now()
	p.ends(status)
	if waited := time.Since(began); waited > 20*time.Second {
		p.t.Errorf("it ended only after %v", waited)
	}
}
