package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/runner"

	"golang.org/x/sys/unix"
)

// A member between vfork(2) and execve(2) stops only itself: its parent waits for it in the
// kernel. Nevertheless all come to stand still, and go on afterwards.
func TestACommandThatForksAllTheTimeIsSuspended(t *testing.T) {
	dir := t.TempDir()
	log, pid := filepath.Join(dir, "log"), filepath.Join(dir, "pid")
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = `f() { while :; do /bin/true; done; }
		f & f & (trap "" TSTP; f) & exec 8<>"$1"; echo $$ >"$0"; while :; do read x <&8; done`
	wrapper := launch(t, wrapped(script{Log: log}, "/bin/sh", "-c", text, pid, filepath.Join(dir, "fifo"))...)
	command := pidIn(t, pid)
	t.Cleanup(func() { _ = unix.Kill(-command, unix.SIGKILL) })
	for n := range 40 {
		send(t, wrapper, unix.SIGTSTP)
		eventually(t, "the wrapper stands still", func() bool { return stateOf(wrapper.Process.Pid) == 'T' })
		if runs := running(t, command); len(runs) > 0 {
			t.Fatalf("these run: %v", runs)
		}
		send(t, wrapper, unix.SIGCONT)
		eventually(t, "it goes on", func() bool { return count(log, "resumed") > n && len(running(t, command)) > 0 })
	}
}

// running are the states of the members of a group that neither are stopped nor have ended.
func running(t *testing.T, group int) (states []string) {
	t.Helper()
	for _, pid := range members(t, group) {
		if state := stateOf(pid); state != 0 && !strings.ContainsRune("TtZX", rune(state)) {
			states = append(states, string(state))
		}
	}
	return states
}

func members(t *testing.T, group int) (pids []int) {
	t.Helper()
	dir, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		pid := 0
		for _, c := range name {
			pid = 10*pid + int(c-'0')
		}
		if is, err := unix.Getpgid(pid); name[0] <= '9' && err == nil && is == group {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A member of another user cannot be stopped: the lock is kept, and the user told. What
// stops it lets the lock go.
func TestAProcessThatDoesNotStopKeepsTheLock(t *testing.T) {
	cmd := &exec.Cmd{}
	asSomebody(t, cmd)
	dir := filepath.Dir(cmd.Path)
	log, pid := filepath.Join(dir, "log"), filepath.Join(dir, "pid")
	cmd.Args = wrapped(script{Log: log}, "/bin/sh", "-c", `echo $$ >"$0"; exec sleep 1000`, pid)
	cmd.SysProcAttr.Setpgid = true
	start(t, cmd)
	command := pidIn(t, pid)
	other := exec.Command("sleep", "1000")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: command}
	start(t, other)
	t.Cleanup(func() { _ = unix.Kill(-command, unix.SIGKILL) })

	send(t, cmd, unix.SIGTSTP)
	const told = "warning: cannot suspend the command: one of its processes does not stop; redlockrun keeps the lock"
	eventually(t, "the user is told", func() bool { return hasLine(log, told) })
	if stateOf(cmd.Process.Pid) == 'T' || hasLine(log, "parked") {
		t.Fatalf("it is suspended: %q", lines(log))
	}
	freeze(t, other.Process.Pid)
	eventually(t, "the wrapper stands still", func() bool { return stateOf(cmd.Process.Pid) == 'T' })
	if !hasLine(log, "parked") || count(log, told) != 1 {
		t.Errorf("%q", lines(log))
	}
}

// While it tries, it hears who wants the command to go on, or to end.
func TestAFailedSuspensionIsCalledOff(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{unix.SIGCONT: 4, unix.SIGTERM: 143} {
		cmd := &exec.Cmd{}
		asSomebody(t, cmd)
		dir := filepath.Dir(cmd.Path)
		log, pid := filepath.Join(dir, "log"), filepath.Join(dir, "pid")
		const text = `trap 'exit 4' USR1; echo $$ >"$0"; while :; do sleep 0.01; done`
		cmd.Args = wrapped(script{Log: log}, "/bin/sh", "-c", text, pid)
		cmd.SysProcAttr.Setpgid = true
		start(t, cmd)
		command := pidIn(t, pid)
		other := exec.Command("sleep", "1000")
		other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: command}
		start(t, other)
		freeze(t, command)
		send(t, cmd, unix.SIGTSTP)
		eventually(t, "the user is told", func() bool { return hasPrefix(log, "warning: cannot suspend the command:") })
		send(t, cmd, sig)
		eventually(t, "the command goes on", func() bool { return stateOf(command) != 'T' })
		send(t, cmd, unix.SIGUSR1)
		if c := code(t, cmd); c != want || hasLine(log, "parked") {
			t.Errorf("signal %v: status %d, want %d; %q", sig, c, want, lines(log))
		}
		_ = unix.Kill(-command, unix.SIGKILL)
	}
}

// While it asks for the lock again the wrapper checks, too: here the guard cannot.
func TestACommandContinuedBeforeTheLockIsRegainedIsKilled(t *testing.T) {
	resume := filepath.Join(t.TempDir(), "resume")
	f := startFamily(t, script{Deadline: 2 * time.Second, Resume: resume})
	guard := guardOf(t, f.wrapper.Process.Pid)
	send(t, f.wrapper, unix.SIGTSTP)
	eventually(t, "the wrapper stands still", func() bool { return stateOf(f.wrapper.Process.Pid) == 'T' })
	before := wakeUps(t, guard)
	eventually(t, "the guard has looked after the deadline", func() bool { return wakeUps(t, guard) >= before+3 })
	freeze(t, guard)
	t.Cleanup(func() {
		if !exited(guard) {
			_ = unix.Kill(guard, unix.SIGKILL)
		}
	})
	send(t, f.wrapper, unix.SIGCONT)
	eventually(t, "the lock is asked for", func() bool { return hasLine(f.log, "resumed") })
	thaw(t, f.grandchild)
	f.isGone(t)
	appendLine(resume, "")
	if c := code(t, f.wrapper); c != 137 {
		t.Errorf("status %d", c)
	}
}

// The guard lets it be until the lease is renewed, however long ago the old one ended.
func TestASuspendedCommandRenewedAfterItsDeadlineContinues(t *testing.T) {
	resume := filepath.Join(t.TempDir(), "resume")
	f := startFamily(t, script{Deadline: time.Second, Resume: resume, Extend: time.Hour})
	guard := guardOf(t, f.wrapper.Process.Pid)
	send(t, f.wrapper, unix.SIGTSTP)
	eventually(t, "the wrapper stands still", func() bool { return stateOf(f.wrapper.Process.Pid) == 'T' })
	send(t, f.wrapper, unix.SIGCONT)
	eventually(t, "the lock is asked for", func() bool { return hasLine(f.log, "resumed") })
	before := wakeUps(t, guard)
	eventually(t, "the guard has looked after the deadline", func() bool { return wakeUps(t, guard) >= before+5 })
	appendLine(resume, "")
	eventually(t, "the command goes on or is gone", func() bool { return stateOf(f.grandchild) != 'T' })
	if exited(f.command) || exited(f.grandchild) {
		t.Error("the command was killed")
	}
}

// As long as the guard may kill the group the leader is not reaped: its number stays its own.
func TestTheLeaderIsReapedAfterTheGuardIsDisarmed(t *testing.T) {
	dir := t.TempDir()
	pid, fifo := filepath.Join(dir, "pid"), filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c := shell(`echo $$ >"$0"; read x <"$1"; exit 3`, pid, fifo)
	c.Guard = startGuard(t)
	result := make(chan runner.Status, 1)
	go func() {
		s, _ := c.Run(t.Context(), nil)
		result <- s
	}()
	command := pidIn(t, pid)
	eventually(t, "the guard knows the group", func() bool { return isUnderWay("runner.(*run).supervise(") })
	release := sync.OnceFunc(c.Guard.Hold())
	defer release()
	err := os.WriteFile(fifo, []byte("go on\n"), 0)
	eventually(t, "the guard is to be disarmed", func() bool { return isUnderWay("runner.(*Guard).disarm(") })
	state := stateOf(command)
	release()
	if s := <-result; state != 'Z' || s.Code != 3 || err != nil {
		t.Errorf("the leader was in state %q, want 'Z'; %+v, %v", state, s, err)
	}
}

// isUnderWay reports whether a goroutine is in a function.
func isUnderWay(function string) bool {
	stacks := make([]byte, 1<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), function)
}
