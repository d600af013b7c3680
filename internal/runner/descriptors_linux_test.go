package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"redlockrun/internal/guard"
)

// A conflict closes the lock's file during the start of the guard that holds it. Its number must
// not become the pipe on which the fork waits for an end.
func TestTheGuardHoldsAFileThatIsClosedWhileItIsStarted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	pipes, err := guard.NewPipes()
	if err != nil {
		t.Fatal(err)
	}
	ready := os.NewFile(uintptr(pipes.Ready[0]), "guard")
	defer ready.Close()
	defer syscall.Close(pipes.Orders[1])
	var pid int
	closed := withDescriptors([]*os.File{f}, func(keep []uintptr) {
		f.Close()
		pid, err = pipes.Execute(keep)
	})
	if err := errors.Join(closed, err); err != nil {
		t.Fatal(err)
	}
	defer reap(pid)
	defer syscall.Kill(pid, syscall.SIGKILL)
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/5", pid)); target != path {
		t.Errorf("holds %q, want %q", target, path)
	}
}
