package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	writeExecutable(t, path, text)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("this file system has no leases: ", err)
	}
	return &absent{t, file}
}

func writeExecutable(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// absentCommand is an absent file that leaves a trace if it is run.
func absentCommand(t *testing.T, path string) *absent {
	t.Helper()
	return absentFile(t, path, "#!/bin/sh\n: >"+path+".ran\n")
}

// wanted waits until somebody opens the file.
func (a *absent) wanted() {
	a.t.Helper()
	until(a.t, "the opening of the file", func() bool { // somebody wants to read: the lease is to end
		kind, err := unix.FcntlInt(a.file.Fd(), unix.F_GETLEASE, 0)
		return err == nil && kind != unix.F_WRLCK
	})
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
			file.wanted()
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
	file.wanted()
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
	file.wanted()
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
	file.wanted()
	<-time.After(3 * time.Second)
	file.come()
	run.ends(7)
}

// execve(2) itself can hang: at the interpreter of an interpreter. No renewal
// comes then, and the guard kills what has not become the command yet.
func TestExecveThatHangsBeyondTheLeaseNeverBecomesTheCommand(t *testing.T) {
	t.Parallel()
	for where, launch := range map[string]func(testing.TB, string, ...string) *process{
		"here": launch, "in a namespace entered from outside": launchOutside,
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			file, path := absentSecondInterpreter(t)
			run := launch(t, s.URL(), "-k", "job", "--ttl", "2", path)
			file.wanted()
			run.endsSoon(76)
			file.comesInVain()
		})
	}
}

// endsSoon is ends, before the kernel has enough of the lease (/proc/sys/fs/lease-break-time: 45 s).
func (p *process) endsSoon(status int) {
	p.t.Helper()
	began := time.Now()
	p.ends(status)
	if waited := time.Since(began); waited > 20*time.Second {
		p.t.Errorf("it ended only after %v", waited)
	}
}
