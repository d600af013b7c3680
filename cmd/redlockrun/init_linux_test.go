package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

// launchInit is launch as PID 1 of a PID namespace, as in a container.
func launchInit(t testing.TB, url string, args ...string) *process {
	t.Helper()
	return launchCommand(t, url, initCommand(t, args...))
}

func initCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	ability.Need(t, ability.Namespaces)
	cmd := exec.Command(binary(t), args...)
	cmd.SysProcAttr = ability.PID1(0)
	return cmd
}

func TestAsPID1OrphansAreReapedDuringTheWait(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	occupy(t, s)
	run := launchInit(t, s.URL(), "-k", "job", "-v", "--wait", "forever", "-c", "exit 5")
	until(t, "the wait", func() bool { return strings.Contains(run.stderr(), "in the queue") })
	init := run.cmd.Process.Pid
	enter := exec.Command("nsenter", "--target", strconv.Itoa(init), "--pid")
	if os.Getuid() != 0 {
		enter.Args = append(enter.Args, "--user", "--preserve-credentials")
	}
	enter.Args = append(enter.Args, "sh", "-c", "for i in 1 2 3 4 5; do (sleep 0.1 &); done")
	if out, err := enter.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	until(t, "PID 1 has no children any more", func() bool {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", init, init))
		return err == nil && len(children) == 0
	})
	free(t, s)
	run.ends(5)
}

func TestAsPID1ASignalEndsTheSplay(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	ran := filepath.Join(t.TempDir(), "ran")
	run := launchInit(t, s.URL(), "-k", "job", "-v", "--splay", "1000h", "touch", ran)
	until(t, "the splay", func() bool { return strings.Contains(run.stderr(), "asks for lock") })
	run.signal(syscall.SIGTERM)
	run.ends(143)
	if exists(ran) {
		t.Error("it has run")
	}
}

// The kernel kills them with PID 1.
func TestAsPID1LeftProcessesAreNotReported(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	ability.Need(t, ability.Namespaces)
	enter := []string{"--pid", "--fork", "--kill-child", "--mount-proc"} // so that what is left can be seen
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	cmd := exec.Command("unshare", append(enter, binary(t), "-k", "job", "-c", "sleep 1000 & exit 5")...)
	run := launchCommand(t, s.URL(), cmd)
	run.ends(5)
	run.wantSilent()
}

// What docs/guarantees.md says is not covered: PID 1 has no guard, and it alone is frozen.
func TestAsPID1AFrozenRunLeavesItsCommandRunning(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	log := filepath.Join(t.TempDir(), "log")
	run := launchInit(t, s.URL(), "-k", "job", "--ttl", "2", "job", log)
	untilRuns(t, log, 1)
	run.signal(syscall.SIGSTOP)
	wantNoLock(t, s) // the lease has ended
	size := func() int {
		text, err := os.ReadFile(log)
		must(err)
		return len(text)
	}
	before := size()
	until(t, "a line of the command", func() bool { return size() > before })
	run.signal(syscall.SIGCONT)
	run.ends(76) // and it is stopped the moment that redlockrun wakes up
}
