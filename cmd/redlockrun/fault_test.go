package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

func TestASignalDuringTheAcquireEndsTheRun(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	never := filepath.Join(t.TempDir(), "never")
	arrive := p.Hold(acquiring)
	run := launch(t, p.URL(), "-k", "job", "touch", never)
	if !p.Await(acquiring, 1) {
		t.Fatal("nothing was asked")
	}
	run.signal(syscall.SIGTERM)
	run.ends(143)
	arrive() // after the program has gone
	if !p.AwaitClosed() {
		t.Fatal("a connection stays open")
	}
	if n, err := s.Do("EXISTS", key); err != nil || n != int64(0) || exists(never) {
		t.Errorf("the late acquire took the lock (%v, %v), or the command was run: %v", n, err, exists(never))
	}
}

// The signal and the answer "yours" are both there when the program goes on.
func TestASignalWhenTheLockIsTakenReleasesIt(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	for range 10 {
		n := p.Count(acquiring)
		arrive := p.Hold(acquiring)
		run := launch(t, p.URL(), "-k", "job", "sleep", "1000")
		if !p.Await(acquiring, n+1) {
			t.Fatal("nothing was asked")
		}
		run.signal(syscall.SIGSTOP)
		arrive()
		wantTaken(t, s)
		run.signal(syscall.SIGTERM)
		run.signal(syscall.SIGCONT)
		run.ends(143) // before the command, or by it
		wantNoLock(t, s)
	}
}

func TestASignalAtAnyMomentOfTheStartEndsTheRun(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	pids := filepath.Join(t.TempDir(), "pids")
	for range 60 {
		run := launch(t, s.URL(), "-k", "job", "-c", "echo $$ >>"+pids+"; exec sleep 1000")
		<-time.After(rand.N(15 * time.Millisecond))
		run.signal(syscall.SIGTERM)
		run.ends(143, 137) // killed, if it came to execve when that had been given up, after 50 ms
		wantNoLock(t, s)
	}
	text, _ := os.ReadFile(pids)
	for _, pid := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(pid); err != nil || syscall.Kill(n, 0) != syscall.ESRCH {
			t.Errorf("process %s of a command goes on", pid)
		}
	}
}

func TestASignalAfterTheEndChangesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	arrive := p.Hold(releasing)
	run := launch(t, p.URL(), "-k", "job", "sh", "-c", "exit 3")
	if !p.Await(releasing, 1) {
		t.Fatal("nothing was released")
	}
	run.signal(syscall.SIGTERM)
	arrive()
	run.ends(3)
	wantNoLock(t, s)
}

// A release that gets no answer costs 2 s at most, and changes no status.
func TestAReleaseWithoutAnAnswerIsAWarning(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	p.Hold(releasing)
	run := launch(t, p.URL(), "-k", "job", "sh", "-c", "exit 3")
	run.ends(3)
	if !strings.HasPrefix(run.stderr(), `redlockrun: warning: cannot release lock "job": `) {
		t.Errorf("said %q", run.stderr())
	}
	if n := p.Count(releasing); n > 2 {
		t.Errorf("%d tries", n)
	}
}

// ttl is long enough that its margin far exceeds a delay by other processes on a busy machine, and
// short enough for a test to wait for its end.
const ttl = "8"

// A store that cannot be reached any more: the stubborn command and its child
// are dead when another gets the lock.
func TestTheCommandIsDeadBeforeTheLeaseEnds(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	dir := t.TempDir()
	log, end := filepath.Join(dir, "log"), filepath.Join(dir, "end")
	first := launch(t, p.URL(), "-k", "job", "--ttl", ttl, "job", log, "stubborn", "grandchild")
	untilRuns(t, log, 1)
	second := launch(t, s.URL(), "-k", "job", "--wait", "forever", "job", log, "grandchild", end)
	p.BlackHole(true)
	untilRuns(t, log, 2)
	first.ends(76)
	touch(t, end)
	second.ends(0)
	if runs := runsOf(t, log); len(runs) != 2 {
		t.Errorf("%d runs", len(runs))
	}
}

// Redlockrun alone stands still; its guard acts, and the next one's lock
// is left alone when it goes on.
func TestAFrozenRedlockrunLosesItsCommandInTime(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	dir := t.TempDir()
	log, end := filepath.Join(dir, "log"), filepath.Join(dir, "end")
	first := launch(t, s.URL(), "-k", "job", "--ttl", ttl, "job", log, "stubborn", "grandchild")
	untilRuns(t, log, 1)
	first.signal(syscall.SIGSTOP)
	second := launch(t, s.URL(), "-k", "job", "--wait", "forever", "job", log, end)
	untilRuns(t, log, 2)
	first.signal(syscall.SIGCONT)
	first.ends(76)
	value, err := s.Do("GET", key)
	if runs := runsOf(t, log); err != nil || len(runs) != 2 || !strings.Contains(value.(string), runs[1]) {
		t.Errorf("%d runs; the lock is %v, %v", len(runs), value, err)
	}
	touch(t, end)
	second.ends(0)
}

// With --on-lost=continue the guard has no deadline: the command lives on.
func TestAFrozenRedlockrunThatMayContinueKeepsItsCommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	dir := t.TempDir()
	log, end := filepath.Join(dir, "log"), filepath.Join(dir, "end")
	run := launch(t, s.URL(), "-k", "job", "--ttl", "0.5", "--on-lost", "continue", "job", log, end)
	untilRuns(t, log, 1)
	run.signal(syscall.SIGSTOP)
	wantNoLock(t, s)
	run.signal(syscall.SIGCONT)
	until(t, "a warning", func() bool { return strings.Contains(run.stderr(), "continues without it") })
	touch(t, end)
	run.ends(0)
}

// If stderr has no reader, or is closed, the lease is renewed nevertheless.
func TestABlockedOrClosedStderrStopsNoRenewal(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for name, stderr := range map[string]func(testing.TB) *os.File{"full": fullPipe, "unread": brokenPipe} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			p := redistest.NewProxy(t, s)
			end := filepath.Join(t.TempDir(), "end")
			out := stderr(t)
			defer out.Close()
			run := launchWith(t, p.URL(), out, "-k", "job", "-vv", "--ttl", "10", "--renew-every", "0.02",
				"-c", "while [ ! -e "+end+" ]; do sleep 0.02; done; exit 3")
			for n := range 10 {
				if !p.Await(renewing, 3*n) {
					t.Fatal("no renewal comes")
				}
				p.Reset() // each one is a reason to say something
			}
			touch(t, end)
			run.ends(3)
			wantNoLock(t, s)
		})
	}
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		s := redistest.Start(t, redistest.Options{})
		sh := launch(t, s.URL(), "-k", "job", "sh", "-c", `exec "$0" -k inner -vv sh -c "exit 3" 2>&-`, binary(t))
		sh.ends(3)
	})
}

// fullPipe takes no byte any more.
func fullPipe(t testing.TB) *os.File {
	t.Helper()
	var fds [2]int
	syscall.ForkLock.RLock() // no process started meanwhile must inherit it
	err := unix.Pipe(fds[:])
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]) })
	unix.SetNonblock(fds[1], true)
	for {
		if _, err := unix.Write(fds[1], make([]byte, 1024)); err != nil {
			break
		}
	}
	unix.SetNonblock(fds[1], false)
	return os.NewFile(uintptr(fds[1]), os.DevNull)
}

// brokenPipe is a pipe without a reader.
func brokenPipe(t testing.TB) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	return os.NewFile(uintptr(duplicate(t, w)), os.DevNull)
}

func duplicate(t testing.TB, f *os.File) int {
	t.Helper()
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// The lock is renewed during the whole grace after --max-runtime.
func TestTheLockIsRenewedWhileTheCommandHasItsGrace(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	log := filepath.Join(t.TempDir(), "log")
	run := launch(t, p.URL(), "-k", "job", "--ttl", "10", "--renew-every", "0.05", "--grace", "1",
		"--max-runtime", "5", "job", log, "stubborn")
	untilRuns(t, log, 1)
	n := p.Count(renewing)
	run.ends(124)
	if during := p.Count(renewing) - n; during < 3 {
		t.Errorf("%d renewals", during)
	}
	wantNoLock(t, s)
}

// A lock that is lost while the command has its long grace cuts the grace.
func TestALossCutsTheGraceOfMaxRuntime(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	dir := t.TempDir()
	log, term := filepath.Join(dir, "log"), filepath.Join(dir, "term")
	run := launch(t, s.URL(), "-k", "job", "--ttl", "10m", "--renew-every", "0.1", "--grace", "8m",
		"--max-runtime", "5",
		"-c", "trap 'touch "+term+"' TERM; job "+log+" stubborn & while :; do wait; done")
	until(t, "SIGTERM", func() bool { return exists(term) })
	occupy(t, s)
	run.ends(124)
	if value, err := s.Do("GET", key); err != nil || value != "other" {
		t.Errorf("the other's lock is %v, %v", value, err)
	}
}
