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

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// A pendingFile does not arrive when it is opened, as if its file server were down: a lease on it
// (fcntl(2), F_SETLEASE) keeps the opener waiting.
type pendingFile struct {
	t    *testing.T
	file *os.File
}

// newPendingFile writes an executable file that does not come until it is let go.
func newPendingFile(t *testing.T, path, text string) *pendingFile {
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
	return &pendingFile{t, file}
}

// newPendingCommand is an absent file that leaves a trace if it is run.
func newPendingCommand(t *testing.T, path string) *pendingFile {
	t.Helper()
	return newPendingFile(t, path, "#!/bin/sh\n: >"+path+".ran\n")
}

// wantedBy waits until a run has the file opened, which must not end before.
func (a *pendingFile) wantedBy(p *process) {
	a.t.Helper()
	until(a.t, "the opening of the file", func() bool { return a.opened() || p.over() })
	if !a.opened() {
		a.t.Fatalf("%q: status %d before the file was opened\n%s", p.cmd.Args, statusOf(p.cmd.ProcessState), p.stderr())
	}
}

// opened reports whether a process waits for the file, which breaks the lease.
func (a *pendingFile) opened() bool {
	kind, err := unix.FcntlInt(a.file.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind != unix.F_WRLCK
}

func (a *pendingFile) arrive() {
	a.t.Helper()
	if _, err := unix.FcntlInt(a.file.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
		a.t.Fatal(err)
	}
}

// newPendingSecondInterpreter writes an executable file whose interpreter's
// interpreter is absent.
func newPendingSecondInterpreter(t *testing.T) (second *pendingFile, path string) {
	t.Helper()
	dir := t.TempDir()
	path, first := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	second = newPendingCommand(t, filepath.Join(dir, "c"))
	writeExecutable(t, first, "#!"+second.file.Name()+"\n")
	writeExecutable(t, path, "#!"+first+"\n")
	return second, path
}

// arrivesUnwanted lets the file come and checks that it has not been run.
func (a *pendingFile) arrivesUnwanted() {
	a.t.Helper()
	a.arrive()
	if exists(a.file.Name() + ".ran") {
		a.t.Error("the command ran without its lock")
	}
}

// A hanging is a run whose command's file has been opened and does not come.
type hanging struct {
	*process
	server *redistest.Server
	file   *pendingFile
}

// keepsTheLock checks for a while that the run holds the lock all the time.
func (h hanging) keepsTheLock(t *testing.T, while time.Duration) {
	t.Helper()
	owner := holder(t, h.server)
	for end := time.Now().Add(while); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if now := holder(t, h.server); now == nil || now != owner {
			t.Fatalf("the lock was %v, is %v\n%s", owner, now, h.stderr())
		}
	}
}

// endsUnstarted checks that the run ends with status before its file has come.
func (h hanging) endsUnstarted(t *testing.T, status int) {
	t.Helper()
	h.endsSoon(status)
	if !strings.Contains(h.stderr(), "; nothing was run\n") {
		t.Errorf("it said %q", h.stderr())
	}
}

// launchHanging starts a run of path, which waits for file.
func launchHanging(t *testing.T, file *pendingFile, path string, flags ...string) hanging {
	t.Helper()
	h := hanging{server: redistest.Start(t, redistest.Options{}), file: file}
	h.process = launch(t, h.server.URL(), append(append([]string{"-k", "job"}, flags...), path)...)
	file.wantedBy(h.process)
	return h
}

// eachHangingExecve runs test in each of the surroundings, on a run whose execve hangs.
func eachHangingExecve(t *testing.T, flags, env []string, test func(*testing.T, hanging)) {
	t.Parallel()
	for where, command := range environments() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			file, path := newPendingSecondInterpreter(t)
			cmd := command(t, append(append([]string{"-k", "job"}, flags...), path)...)
			cmd.Env = env
			h := hanging{server: redistest.Start(t, redistest.Options{}), file: file}
			h.process = launchCommand(t, h.server.URL(), cmd)
			file.wantedBy(h.process)
			test(t, h)
		})
	}
}

func TestTheLockIsRenewedWhileTheFileHangs(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for _, what := range []string{"interpreter", "command"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := newPendingFile(t, filepath.Join(dir, "interpreter"), "#!/bin/sh\nexit 7\n")
			writeExecutable(t, filepath.Join(dir, "command"), "#!"+filepath.Join(dir, "interpreter")+"\n")
			run := launchHanging(t, file, filepath.Join(dir, what), "--ttl", "5", "--renew-every", "0.3")
			run.keepsTheLock(t, 6*time.Second)
			file.arrive()
			run.ends(7)
		})
	}
}

func TestACommandThatLoadsAfterTheLockIsLostIsNotStarted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "command")
	run := launchHanging(t, newPendingCommand(t, path), path, "--ttl", "2")
	occupy(t, run.server)
	run.endsUnstarted(t, 76)
	run.file.arrivesUnwanted()
}

func TestARunWhoseFileHangsCanBeEnded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "command")
	run := launchHanging(t, newPendingCommand(t, path), path)
	limited := launch(t, run.server.URL(), "-k", "limited", "--max-runtime", "1", path)
	limited.endsSoon(124)
	run.signal(unix.SIGTERM)
	run.endsSoon(143)
	if owner := holder(t, run.server); owner != nil {
		t.Errorf("the lock was not given back: %v", owner)
	}
	run.file.arrivesUnwanted()
}

func TestLoadingTheFileIsNotRunTime(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	path := filepath.Join(t.TempDir(), "command")
	run := launchHanging(t, newPendingFile(t, path, "#!/bin/sh\nsleep 4\nexit 7\n"), path, "--max-runtime", "6")
	<-time.After(3 * time.Second)
	run.file.arrive()
	run.ends(7)
}

// For as long as execve(2) hangs the lease is renewed, whatever the collector of a
// busy program would do meanwhile.
func TestTheLockIsRenewedWhileExecveHangs(t *testing.T) {
	ability.Slow(t)
	busy := []string{"GOGC=1", "GOMEMLIMIT=1MiB", "GOMAXPROCS=1"}
	eachHangingExecve(t, []string{"--ttl", "6", "--renew-every", "0.3"}, busy, func(t *testing.T, run hanging) {
		run.keepsTheLock(t, 7*time.Second)
		run.file.arrive()
		run.ends(0)
		run.wantSilent()
		if !exists(run.file.file.Name() + ".ran") {
			t.Error("the command was not run")
		}
	})
}

func TestASignalEndsARunWhoseExecveHangs(t *testing.T) {
	eachHangingExecve(t, []string{"-v"}, nil, func(t *testing.T, run hanging) {
		inner, child := inExecve(t, run.process)
		if err := unix.Kill(inner, unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		run.endsUnstarted(t, 143)
		if lives(child) {
			t.Error("what hung in execve outlived it")
		}
		wantNoLock(t, run.server)
		run.file.arrivesUnwanted()
	})
}

func TestExecveThatHangsBeyondTheLeaseNeverBecomesTheCommand(t *testing.T) {
	eachHangingExecve(t, []string{"--ttl", "2"}, nil, func(t *testing.T, run hanging) {
		if err := run.server.Signal(unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		run.endsUnstarted(t, 76)
		run.file.arrivesUnwanted()
	})
}

// The guard alone is left, and has not been told whom to kill.
func TestExecveThatHangsUnderAKilledRunNeverBecomesTheCommand(t *testing.T) {
	eachHangingExecve(t, []string{"--ttl", "600"}, nil, func(t *testing.T, run hanging) {
		inner, child := inExecve(t, run.process)
		began := time.Now()
		if err := unix.Kill(inner, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "the end of what hangs in execve", func() bool { return !lives(child) })
		if took := time.Since(began); took > beforeLeaseBreak { // 100 ms, on an idle machine
			t.Errorf("it lived for %v", took)
		}
		run.file.arrivesUnwanted()
	})
}

// environments are where execve may hang.
func environments() map[string]func(testing.TB, ...string) *exec.Cmd {
	return map[string]func(testing.TB, ...string) *exec.Cmd{
		"here": func(t testing.TB, args ...string) *exec.Cmd {
			return exec.Command(binary(t), args...)
		},
		"in a namespace entered from outside": outsideCommand,
		"as PID 1":                            initCommand,
	}
}

// inExecve waits for a run whose child hangs in execve: it still has the run's own
// command line.
func inExecve(t testing.TB, p *process) (run, child int) {
	t.Helper()
	until(t, "a child that hangs in execve", func() bool {
		family := descendants(p.cmd.Process.Pid)
		for _, pid := range family {
			for _, other := range family {
				if parentNumber(other) == pid && cmdlineOf(other) == cmdlineOf(pid) &&
					strings.HasPrefix(cmdlineOf(pid), binary(t)+"\x00") {
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

// beforeLeaseBreak is before the kernel has enough of the lease (/proc/sys/fs/lease-break-time: 45 s).
const beforeLeaseBreak = 20 * time.Second

// endsSoon is ends, beforeLeaseBreak.
func (p *process) endsSoon(status int) {
	p.t.Helper()
	began := time.Now()
	p.ends(status)
	if waited := time.Since(began); waited > beforeLeaseBreak {
		p.t.Errorf("it ended only after %v", waited)
	}
}
