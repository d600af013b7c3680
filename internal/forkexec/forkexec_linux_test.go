package forkexec_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"redlockrun/internal/boottime"
	"redlockrun/internal/forkexec"
)

// run starts a command, waits for its end and returns its status; pid is 0 if nothing was forked.
func run(t *testing.T, a forkexec.Attr, argv ...string) (pid int, status syscall.WaitStatus, err error) {
	t.Helper()
	a.Env = []string{"PATH=/usr/bin:/bin"}
	if a.Files == [3]uintptr{} {
		a.Files = [3]uintptr{0, 1, 2}
	}
	pid, err = forkexec.Start(argv[0], argv, &a)
	if pid == 0 {
		return pid, status, err
	}
	for {
		if _, e := syscall.Wait4(pid, &status, 0, nil); e != syscall.EINTR {
			return pid, status, err
		}
	}
}

func TestACommandRunsUntilItsTimeToStartHasCome(t *testing.T) {
	far := boottime.Ticks(boottime.Now()) + int64(1e12)
	for _, by := range []int64{0, far} {
		_, status, err := run(t, forkexec.Attr{By: by}, "/bin/sh", "-c", "exit 7")
		if err != nil || status.ExitStatus() != 7 {
			t.Errorf("by %d: status %d, %v", by, status.ExitStatus(), err)
		}
	}
}

// The child looks at the clock itself: its parent may have stood still after a look of its own.
func TestNothingIsExecutedOnceItIsLate(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	for _, by := range []int64{1, boottime.Ticks(boottime.Now())} {
		pid, _, err := run(t, forkexec.Attr{By: by}, "/bin/sh", "-c", ": >"+ran)
		if pid == 0 || !errors.Is(err, forkexec.ErrLate) {
			t.Errorf("by %d: process %d, %v", by, pid, err)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("by %d: the command ran", by)
		}
	}
}

func TestAChildIsAnnouncedBeforeItCouldExecuteAnything(t *testing.T) {
	const at = 3
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	a := forkexec.Attr{Announce: []byte("ab cccccccc d"), AnnounceAt: at, AnnounceTo: uintptr(pipe[1])}
	pid, _, err := run(t, a, "/no/such/file")
	syscall.Close(pipe[1])
	if err != syscall.ENOENT {
		t.Errorf("%v", err)
	}
	got := make([]byte, 64)
	n, err := syscall.Read(pipe[0], got)
	if err != nil || n != len(a.Announce) ||
		int(binary.LittleEndian.Uint64(got[at:])) != pid || string(got[at+8:n]) != " d" {
		t.Errorf("process %d announced %q, %v", pid, got[:max(n, 0)], err)
	}
}

// A closed reader brings SIGPIPE to the child.
func TestAnAnnouncementThatNobodyReadsStopsNothing(t *testing.T) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	a := forkexec.Attr{Announce: make([]byte, 8), AnnounceTo: uintptr(pipe[1])}
	if _, status, err := run(t, a, "/bin/true"); err != nil || status != 0 {
		t.Errorf("status %x, %v", status, err)
	}
}

func TestDescriptorsMayChangePlaces(t *testing.T) {
	dir := t.TempDir()
	var opened [3]uintptr
	for i, name := range []string{"0", "1", "2"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		opened[i] = f.Fd()
	}
	const same = `test /proc/$$/fd/0 -ef "$0/$1" && test /proc/$$/fd/1 -ef "$0/$2" && test /proc/$$/fd/2 -ef "$0/$3"`
	mine := "/proc/" + strconv.Itoa(os.Getpid()) + "/fd"
	for _, c := range []struct {
		files [3]uintptr
		args  []string // a directory, and what in it they are
	}{
		{opened, []string{dir, "0", "1", "2"}},
		{[3]uintptr{opened[2], opened[1], opened[0]}, []string{dir, "2", "1", "0"}},
		{[3]uintptr{2, 0, 1}, []string{mine, "2", "0", "1"}},
		{[3]uintptr{1, 1, 0}, []string{mine, "1", "1", "0"}},
	} {
		_, status, err := run(t, forkexec.Attr{Files: c.files}, append([]string{"/bin/sh", "-c", same}, c.args...)...)
		if err != nil || status != 0 {
			t.Errorf("%v: status %x, %v", c.files, status, err)
		}
	}
}
