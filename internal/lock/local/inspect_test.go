package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
)

func inspecting(t *testing.T, dir string) lock.Inspector {
	t.Helper()
	in, err := OpenInspector(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.(*inspector).Close() })
	return in
}

func stateOf(t *testing.T, in lock.Inspector, name string) lock.Job {
	t.Helper()
	j, err := in.Job(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestAFileSaysWhoHasIt(t *testing.T) {
	s := openLocal(t)
	in := inspecting(t, s.Address())
	if j := stateOf(t, in, "job"); j.State != lock.StateIdle || j.Unread != nil {
		t.Errorf("before: %+v", j)
	}
	req := locktest.RequestFor("job")
	l := locktest.Acquire(t, s, req)
	j := stateOf(t, in, "job")
	if j.State != lock.StateRunning || j.Holder.Run != req.Holder.Run || j.Fence != l.Fence() ||
		time.Since(j.At) > locktest.Patience || j.Left != 0 {
		t.Errorf("held: %+v", j)
	}
	letGo(t, l, time.Hour)
	if j := stateOf(t, in, "job"); j.State != lock.StateEnded || j.Holder.Run != req.Holder.Run ||
		j.Left < 59*time.Minute {
		t.Errorf("kept: %+v", j)
	}
	other := locktest.Acquire(t, s, locktest.RequestFor("other"))
	letGo(t, other, 0)
	if j := stateOf(t, in, "other"); j.State != lock.StateIdle || j.Holder.Run != "" {
		t.Errorf("released: %+v", j)
	}
}

func TestARunWhoseFileTheKernelHasTakenBackHasVanished(t *testing.T) {
	s := openLocal(t)
	in := inspecting(t, s.Address())
	req := locktest.RequestFor("job")
	locktest.Acquire(t, s, req).(*localLease).file.Close()
	if j := stateOf(t, in, "job"); j.State != lock.StateVanished || j.Open.Run != req.Holder.Run ||
		j.Open.Host != "web-3" || !j.Vanished() {
		t.Errorf("%+v", j)
	}
	letGo(t, locktest.Acquire(t, s, locktest.RequestFor("job")), 0) // the look has left the file free
}

func TestNamesOfLocalLocksComeFromTheirFiles(t *testing.T) {
	s := openLocal(t)
	long := strings.Repeat("x", 300)
	for _, name := range []string{"b", "a/b{%}", ".hidden", long} {
		letGo(t, locktest.Acquire(t, s, locktest.RequestFor(name)), 0)
	}
	for _, file := range []string{"other", "%6a.lock", ".lock", "a%zz.lock"} {
		locktest.Must(t, os.WriteFile(filepath.Join(s.Address(), file), nil, 0o600))
	}
	in := inspecting(t, s.Address())
	for range 2 {
		if names, err := in.Names(t.Context(), true); err != nil ||
			!slices.Equal(names, []string{".hidden", "a/b{%}", "b"}) {
			t.Errorf("%q, %v", names, err)
		}
	}
	if j := stateOf(t, in, long); j.State != lock.StateIdle || j.Unread != nil {
		t.Errorf("%+v", j)
	}
}

func TestAnInspectorMakesNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	in := inspecting(t, dir)
	names, err := in.Names(t.Context(), false)
	if jobs, _ := in.Jobs(t.Context(), []string{"a", "b"}); err != nil || names != nil || len(jobs) != 2 ||
		jobs[1].State != lock.StateIdle {
		t.Errorf("%q, %v, %+v", names, err, jobs)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("it is there now")
	}
}

func TestWhatIsPlantedIsNamedAndNotRead(t *testing.T) {
	s := openLocal(t)
	in := inspecting(t, s.Address())
	at := func(name string) string { return filepath.Join(s.Address(), name+".lock") }
	locktest.Must(t, os.Symlink("/etc/passwd", at("link")))
	locktest.Must(t, syscall.Mkfifo(at("fifo"), 0o600))
	locktest.Must(t, os.Mkdir(at("dir"), 0o700))
	locktest.Must(t, os.WriteFile(at("text"), []byte("hello"), 0o600))
	locktest.Must(t, os.WriteFile(at("garbage"), []byte(`{"run":"x","pid":1}`), 0o600))
	for name, want := range map[string]lock.State{
		"link": lock.StateForeign, "fifo": lock.StateForeign, "dir": lock.StateForeign, "text": lock.StateForeign,
		"garbage": lock.StateIdle,
	} {
		j := stateOf(t, in, name)
		if said := fmt.Sprint(j.Unread); j.State != want ||
			(want == lock.StateForeign) != strings.Contains(said, at(name)) {
			t.Errorf("%s: %+v", name, j)
		}
	}
}
