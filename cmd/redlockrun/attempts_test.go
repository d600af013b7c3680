package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

// atSecondAttempt is the text of a command that fails at first and is job then.
func atSecondAttempt(words ...string) string {
	return "[ $REDLOCKRUN_ATTEMPT = 2 ] || exit 3; exec job " + strings.Join(words, " ")
}

// Each start has a guard of its own, which knows the deadline that was there before it.
func TestTheGuardOfASecondAttemptKillsItsCommandToo(t *testing.T) {
	for what, end := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "frozen": syscall.SIGSTOP} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ability.Slow(t)
			s := redistest.Start(t, redistest.Options{})
			dir := t.TempDir()
			log, over := filepath.Join(dir, "log"), filepath.Join(dir, "end")
			first := launch(t, s.URL(), "-k", "job", "--ttl", "5", "--attempts", "2", "--attempt-delay", "0.1",
				"-c", atSecondAttempt(log, "stubborn", "grandchild"))
			untilRuns(t, log, 1)
			first.signal(end)
			second := launch(t, s.URL(), "-k", "job", "--wait", "forever", "job", log, over)
			untilRuns(t, log, 2)
			touch(t, over)
			second.ends(0)
			if n := len(runsOf(t, log)); n != 2 {
				t.Errorf("%d runs", n)
			}
		})
	}
}

// inPause is a run that is between two attempts.
func inPause(t *testing.T, s *redistest.Server, delay, text string, flags ...string) *process {
	t.Helper()
	args := append([]string{"-k", "job", "--attempts", "2", "--attempt-delay", delay}, flags...)
	run := launch(t, s.URL(), append(args, "-c", text)...)
	until(t, "the pause", func() bool { return strings.Contains(run.stderr(), "attempt 2 of 2") })
	return run
}

func TestAPauseBetweenAttemptsCanBeSuspended(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	log := filepath.Join(t.TempDir(), "log")
	run := inPause(t, s, "1", "[ $REDLOCKRUN_ATTEMPT = 2 ] && : >"+log)
	run.signal(syscall.SIGTSTP)
	untilStopped(t, run.cmd.Process.Pid)
	run.signal(syscall.SIGCONT)
	run.ends(0)
	if !exists(log) {
		t.Error("it was not started again")
	}
	wantNoLock(t, s)
}

func TestAPauseThatWasSuspendedEndsIfTheLockIsLost(t *testing.T) {
	for what, flag := range map[string]string{"stop": "stop", "continue": "continue"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			run := inPause(t, s, "600", "exit 3", "--ttl", "4", "--on-lost", flag)
			run.signal(syscall.SIGTSTP)
			untilStopped(t, run.cmd.Process.Pid)
			wantNoLock(t, s)
			run.signal(syscall.SIGCONT)
			run.ends(76)
		})
	}
}

// A run that is killed between two attempts leaves no process.
func TestARunThatIsKilledInAPauseLeavesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	run := inPause(t, s, "600", "exit 3", "--ttl", "5")
	until(t, "the end of a guard that has nothing to guard", func() bool {
		guard := guardOf(run)
		return guard == 0 || stateOf(guard) == 'Z'
	})
	run.kill()
	wantNoLock(t, s)
}
