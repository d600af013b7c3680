package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"redlockrun/internal/guard"
)

// A conflict closes the lock's file beside the start of the guard that is to hold
// it. Its number must not become the pipe on which the fork waits for an end.
func TestTheGuardHoldsAFileThatIsClosedWhileItIsStarted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &Guard{keep: []*os.File{f}, ready: make(chan struct{}), over: make(chan struct{}), quit: make(chan struct{})}
	leash, err := guard.NewLeash()
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	numbered := withNumbers(g.keep, func(keep []uintptr) {
		f.Close()
		pid, err = leash.Execute(keep)
	})
	if err := errors.Join(numbered, err); err != nil {
		t.Fatal(err)
	}
	g.hire(pid, leash)
	go g.look(os.NewFile(uintptr(leash.Ready[0]), "guard"))
	defer g.Close()
	if err := g.await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/5", pid)); target != path {
		t.Errorf("holds %q, want %q", target, path)
	}
}

func TestAGuardForAFileThatIsClosedAlreadyIsNotStarted(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	before := openFiles(t)
	if g, err := StartGuard(f); err == nil {
		t.Error("no error")
		g.Close()
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors are left", after-before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
