package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"redlockrun/internal/redistest"
)

// asInit is redlockrun as PID 1 of a PID namespace, as in a container. The test
// ends it.
func asInit(t *testing.T, url string, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	cmd, stderr = exec.Command(binary(t), args...), new(bytes.Buffer)
	cmd.Env = append(os.Environ(), configVar+"=/dev/null", "REDLOCKRUN_REDIS="+url)
	cmd.Stderr = stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start PID 1 of a new PID namespace (needs root, or user namespaces): %v", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, stderr
}

func untilHeld(t *testing.T, s *redistest.Server, held bool) {
	t.Helper()
	until(t, "the lock is held or not", func() bool {
		n, err := s.Do("EXISTS", "redlockrun:{job}")
		return err == nil && (n == int64(1)) == held
	})
}

func TestAsPID1TheStatusPassesBesideOrphans(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	const orphans = `i=0; while [ $i -lt 200 ]; do (true &); i=$((i+1)); done
test $PPID = 1 && exit 5`
	cmd, stderr := asInit(t, s.URL(), "-k", "job", "-c", orphans)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q", code, stderr)
	}
	untilHeld(t, s, false)
}

func TestAsPID1ATerminationIsForwardedAndTheLockReleased(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	ready := filepath.Join(t.TempDir(), "ready")
	cmd, stderr := asInit(t, s.URL(), "-k", "job", "-c", `exec 2>/dev/null; trap 'exit 9' TERM; : >`+ready+`; while :; do sleep 0.01; done`)
	until(t, "the command", func() bool { return exists(ready) })
	untilHeld(t, s, true)
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q", code, stderr)
	}
	untilHeld(t, s, false)
}

// No guard is there, nor needed: the kernel ends all that PID 1 leaves behind.
func TestAsPID1NothingOutlivesAKill(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	log := filepath.Join(t.TempDir(), "log")
	cmd, _ := asInit(t, s.URL(), "-k", "job", "--ttl", "2", "job", log, "grandchild")
	untilRuns(t, log, 1)
	cmd.Process.Kill()
	cmd.Wait()
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	untilHeld(t, s, false) // the lease has ended, two seconds later
	if after, err := os.ReadFile(log); err != nil || len(after) != len(before) {
		t.Errorf("the job went on: %d bytes more, %v", len(after)-len(before), err)
	}
}
