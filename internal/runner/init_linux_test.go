package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"redlockrun/internal/proof/ability"

	"golang.org/x/sys/unix"
)

// mountProc shows the processes of this namespace in /proc.
func mountProc() {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		panic(err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		panic(err)
	}
}

// asInit starts a wrapper as PID 1 of a new namespace.
func asInit(t *testing.T, s script, argv ...string) *exec.Cmd {
	t.Helper()
	ability.Need(t, ability.Namespaces)
	s.Proc = true
	argv = wrapped(s, argv...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = ability.PID1(unix.CLONE_NEWNS)
	start(t, cmd)
	return cmd
}

func TestAsPID1TheStatusIsPassedOn(t *testing.T) {
	for text, want := range map[string]int{
		"exit 0": 0, "exit 42": 42, "kill -TERM $$": 143, "kill -INT $$": 130, "kill -KILL $$": 137,
	} {
		if c := code(t, asInit(t, script{}, "/bin/sh", "-c", text)); c != want {
			t.Errorf("%s: got %d, want %d", text, c, want)
		}
	}
}

func TestAsPID1SignalsAreForwarded(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := asInit(t, script{}, "/bin/sh", "-c", `trap 'exit 5' TERM; echo >"$0"; while :; do sleep 0.01; done`, ready)
	eventually(t, "the command is ready", func() bool { return len(lines(ready)) > 0 })
	send(t, cmd, unix.SIGTERM)
	if c := code(t, cmd); c != 5 {
		t.Errorf("got %d, want 5", c)
	}
}

// Each of the orphans becomes a child of PID 1. The command waits until it sees
// no zombie any more; its own status is not lost over them.
func TestAsPID1AThousandOrphansAreReaped(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	text := `i=0; while [ $i -lt 1000 ]; do (/bin/true &); i=$((i+1)); done
		echo "$(ls -d /proc/[0-9]* | wc -l)" >"$0"
		while cat /proc/[0-9]*/stat 2>/dev/null | grep -q '^[0-9]* (true) '; do sleep 0.02; done; exit 42`
	cmd := asInit(t, script{Log: log + ".wrapper"}, "/bin/sh", "-c", text, log)
	if c := code(t, cmd); c != 42 {
		t.Errorf("got %d, want 42", c)
	}
	if got := lines(log + ".wrapper"); len(got) != 1 || got[0] != "ended: code 42 signal 0 stopped <nil> left 0" {
		t.Errorf("got %q", got)
	}
}

func TestAsPID1ThereIsNoGuard(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	const count = `cat /proc/[0-9]*/cmdline | tr '\0' '\n' | grep -c '^lease-guard$' >"$0"`
	cmd := asInit(t, script{}, "/bin/sh", "-c", count, seen)
	_ = code(t, cmd)
	if got := lines(seen); len(got) != 1 || got[0] != "0" {
		t.Errorf("guards: %q", got)
	}
}

// PID 1 cannot be stopped, so the command goes on too: no shell could continue it.
func TestAsPID1AStoppedCommandContinues(t *testing.T) {
	dir := t.TempDir()
	ready, log := filepath.Join(dir, "ready"), filepath.Join(dir, "log")
	cmd := asInit(t, script{Log: log}, "/bin/sh", "-c", `echo >"$0"; exec sleep 1000`, ready)
	eventually(t, "the command is ready", func() bool { return len(lines(ready)) > 0 })
	send(t, cmd, unix.SIGTSTP)
	eventually(t, "the stop is over", func() bool { return hasLine(log, "parked") && hasLine(log, "resumed") })
	send(t, cmd, unix.SIGTERM)
	if c := code(t, cmd); c != 143 {
		t.Errorf("got %d, want 143", c)
	}
}

func TestProcessesLeftByAKilledPID1AreKilled(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	cmd := asInit(t, script{}, "/bin/sh", "-c", `setsid sleep 1000 & sleep 1000 & echo >"$0"; wait`, ready)
	eventually(t, "the command is ready", func() bool { return len(lines(ready)) > 0 })
	namespace, err := os.Readlink("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	send(t, cmd, unix.SIGKILL)
	_ = code(t, cmd)
	eventually(t, "the namespace is empty", func() bool {
		links, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
		for _, link := range links {
			if target, _ := os.Readlink(link); target == namespace {
				return false
			}
		}
		return true
	})
}
