package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

// stateOf is the letter of proc_pid_stat(5): T is stopped. 0: there is no such process.
func stateOf(pid int) byte {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, rest, ok := strings.Cut(string(text), ") "); ok {
		return rest[0]
	}
	return 0
}

func untilStopped(t testing.TB, pid int) {
	t.Helper()
	until(t, "a stop", func() bool { return stateOf(pid) == 'T' })
}

// suspended starts a run of ttl, suspends it as Ctrl-Z would, and returns it
// with the process id of its command.
func suspended(t *testing.T, s *redistest.Server, ttl, log, end string, flags ...string) (run *process, command int) {
	t.Helper()
	pid := log + ".command"
	args := append([]string{"-k", "job", "--ttl", ttl}, flags...)
	args = append(args, "-c", "echo $$ >"+pid+".new; mv "+pid+".new "+pid+"; exec job "+log+" "+end)
	run = launch(t, s.URL(), args...)
	untilRuns(t, log, 1)
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if command, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		t.Fatal(err)
	}
	run.signal(syscall.SIGTSTP)
	untilStopped(t, run.cmd.Process.Pid)
	untilStopped(t, command)
	return run, command
}

func TestASuspendedRunContinuesIfItStillHasTheLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	dir := t.TempDir()
	log, end := filepath.Join(dir, "log"), filepath.Join(dir, "end")
	run, _ := suspended(t, s, "60", log, end)
	touch(t, end)
	run.signal(syscall.SIGCONT)
	run.ends(0)
	run.wantSilent()
	wantNoLock(t, s)
}

// The lock lapses meanwhile and another has it: the guard lets the stopped
// command be, which does not go on.
func TestASuspendedRunEndsIfItsLockIsLost(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	dir := t.TempDir()
	log, end := filepath.Join(dir, "log"), filepath.Join(dir, "end")
	run, command := suspended(t, s, "5", log, "")
	second := launch(t, s.URL(), "-k", "job", "--wait", "forever", "job", log, end)
	untilRuns(t, log, 2)
	if state := stateOf(command); state != 'T' {
		t.Errorf("the stopped command is in state %q", state)
	}
	run.signal(syscall.SIGCONT)
	run.ends(76)
	touch(t, end)
	second.ends(0)
	if runs := runsOf(t, log); len(runs) != 2 {
		t.Errorf("%d runs", len(runs))
	}
}

// Not even for its last words: another may be running. The guard, which would
// see to that too, stands still here.
func TestASuspendedCommandWhoseLeaseExpiredDoesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	dir := t.TempDir()
	late, ready, fifo := filepath.Join(dir, "late"), filepath.Join(dir, "ready"), filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// It waits without a child: while dash forks by vfork(2), a stop reaches its child alone.
	const text = `trap ': >"$0"' TERM CONT; exec 8<>"$1"; : >"$2"; while :; do read x <&8; done`
	run := launch(t, s.URL(), "-k", "job", "--ttl", "4", "sh", "-c", text, late, fifo, ready)
	until(t, "the command", func() bool { return exists(ready) })
	run.signal(syscall.SIGTSTP)
	untilStopped(t, run.cmd.Process.Pid)
	guard := guardOf(run)
	syscall.Kill(guard, syscall.SIGSTOP)
	untilStopped(t, guard)
	wantNoLock(t, s)
	run.signal(syscall.SIGCONT)
	run.ends(76)
	if exists(late) {
		t.Error("the command went on when its lease had ended")
	}
}

// beats is a shell text that adds to the file $0 as long as it runs.
const beats = `while :; do echo x >>"$0"; sleep 0.02; done`

// waits is a leader that does nothing. It has no child: while dash forks by vfork(2), a stop
// reaches its child alone.
const waits = `exec 8<>"$1"; : >"$2"; while :; do read x <&8; done`

// A processGroup is a run whose command has, beside the leader, a member that beats.
type processGroup struct {
	run            *process
	leader, member int
	beats          string // the file
}

// startProcessGroup starts one of ttl 4. before is done by the leader before it forks the member, after
// when it has.
func startProcessGroup(t *testing.T, s *redistest.Server, before, after string) processGroup {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(file("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := before + `(` + beats + `) & echo $$ $! >"$3"; ` + after + waits
	run := launch(t, s.URL(), "-k", "job", "--ttl", "4", "sh", "-c", text,
		file("beats"), file("fifo"), file("ready"), file("pids"))
	until(t, "the command", func() bool { return exists(file("ready")) && exists(file("beats")) })
	b := processGroup{run: run, beats: file("beats")}
	pids, err := os.ReadFile(file("pids"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(pids), &b.leader, &b.member); err != nil {
		t.Fatal(err)
	}
	return b
}

// beatsNotBeside starts a run that waits for the lock, and checks that nothing beats while it has it.
func (b processGroup) beatsNotBeside(t *testing.T, s *redistest.Server) {
	t.Helper()
	const text = `before=$(wc -c <"$0"); sleep 0.5; test $before = $(wc -c <"$0")`
	successor := launch(t, s.URL(), "-k", "job", "--wait", "forever", "sh", "-c", text, b.beats)
	successor.ends(0)
}

// suspendsAndLosesItsLock suspends the run until another has had the lock. Nothing of the suspended
// run may beat meanwhile, and the run must end when it is resumed.
func (b processGroup) suspendsAndLosesItsLock(t *testing.T, s *redistest.Server) {
	t.Helper()
	b.run.signal(syscall.SIGTSTP)
	untilStopped(t, b.run.cmd.Process.Pid)
	b.beatsNotBeside(t, s)
	b.run.signal(syscall.SIGCONT)
	b.run.ends(76)
}

// The lease expires only after every process has stopped, even one that ignores SIGTSTP.
func TestNoProcessOfASuspendedRunWorksAlongsideItsSuccessor(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	b := startProcessGroup(t, s, `trap "" TSTP; `, `trap - TSTP; `)
	b.suspendsAndLosesItsLock(t, s)
}

// The leader alone was stopped before.
func TestASuspensionStopsTheGroupOfAStoppedLeader(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	b := startProcessGroup(t, s, "", "")
	if err := syscall.Kill(b.leader, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	untilStopped(t, b.leader)
	b.suspendsAndLosesItsLock(t, s)
}

// A member that is continued from outside is killed with all others when the lease has ended.
func TestAGroupMemberContinuedByAnotherProcessIsKilled(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	b := startProcessGroup(t, s, "", "")
	b.run.signal(syscall.SIGTSTP)
	untilStopped(t, b.run.cmd.Process.Pid)
	wantNoLock(t, s)
	began := boottime.Now()
	if err := syscall.Kill(b.member, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the command", func() bool { return isDead(b.leader) && isDead(b.member) })
	if took := -boottime.Until(began); took > 500*time.Millisecond { // 100 ms, and a busy machine
		t.Errorf("it was killed after %v", took)
	}
	b.run.signal(syscall.SIGCONT)
	b.run.ends(76)
}

// isDead reports that a process has ended, reaped or not.
func isDead(pid int) bool { state := stateOf(pid); return state == 0 || state == 'Z' }

func TestASuspendedRunThatMayContinueDoes(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	dir := t.TempDir()
	log, end := filepath.Join(dir, "log"), filepath.Join(dir, "end")
	run, _ := suspended(t, s, "2", log, end, "--on-lost", "continue")
	wantNoLock(t, s)
	touch(t, end)
	run.signal(syscall.SIGCONT)
	run.ends(0)
	if !strings.Contains(run.stderr(), "continues without it") {
		t.Errorf("said %q", run.stderr())
	}
}

// While redlockrun waits, the kernel does with a stop what it does with anyone.
func TestAWaitCanBeSuspended(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	occupy(t, s)
	run := launch(t, s.URL(), "-k", "job", "-v", "--wait", "forever", "true")
	until(t, "the wait", func() bool { return strings.Contains(run.stderr(), "waiting for it") })
	run.signal(syscall.SIGTSTP)
	untilStopped(t, run.cmd.Process.Pid)
	free(t, s)
	run.signal(syscall.SIGCONT)
	run.ends(0)
}
