package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// playReaper replaces init, as in a container or a session: it starts args[2:], kills it when the
// file args[0] exists, reaps its adopted children then, and writes into args[1] how long the guard
// lived and worked.
func playReaper(args []string) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	guard := 0
	for len(lines(args[0])) == 0 || guard == 0 {
		guard = findGuard(cmd.Process.Pid, nil)
	}
	killed := time.Now()
	_ = cmd.Process.Kill()
	for {
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, nil, 0, &usage)
		if err == unix.ECHILD {
			return 0
		}
		if pid == guard {
			worked := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
			appendLine(args[1], fmt.Sprintf("%d %d", time.Since(killed).Milliseconds(), worked.Milliseconds()))
		}
	}
}

// orphaned returns how long the guard of a killed wrapper lived on, and how much processor time it
// used in all. The rest of the command ends when the file end exists.
func orphaned(t *testing.T, ready, end, program string, argv ...string) (lived, worked time.Duration) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(self(), append([]string{"reaper", ready, log, program}, argv...)...)
	start(t, cmd)
	eventually(t, "the guard is gone", func() bool { return len(lines(log)) > 0 })
	appendLine(end, "")
	_ = code(t, cmd)
	var a, b int
	if _, err := fmt.Sscan(lines(log)[0], &a, &b); err != nil {
		t.Fatal(err)
	}
	return time.Duration(a) * time.Millisecond, time.Duration(b) * time.Millisecond
}

// soon is 2.5 s, and what a busy machine takes.
const soon = 10 * time.Second

func TestTheGuardOfAKilledWrapperIsGoneSoonAndDidLittle(t *testing.T) {
	dir := t.TempDir()
	ready, end := filepath.Join(dir, "ready"), filepath.Join(dir, "end")
	argv := wrapped(script{}, "/bin/sh", "-c", `echo $$ >"$0"; exec sleep 1000`, ready)
	lived, worked := orphaned(t, ready, end, argv[0], argv[1:]...)
	t.Logf("lived for %v and used %v", lived, worked)
	if lived > soon || worked > 500*time.Millisecond {
		t.Errorf("it lived for %v and used %v of a processor", lived, worked)
	}
}

// One of the group may not be signalled, and never reaps the other one, which can
// be signalled for ever.
func TestTheGuardOfAGroupThatNeverDiesIsGoneSoonAndDidLittle(t *testing.T) {
	cmd := &exec.Cmd{}
	asSomebody(t, cmd)
	dir := filepath.Dir(cmd.Path)
	root, ready, end := filepath.Join(dir, "root"), filepath.Join(dir, "ready"), filepath.Join(dir, "end")
	copySelf(t, root, "6755")
	as := []string{"--reuid", fmt.Sprint(somebody), "--regid", fmt.Sprint(somebody), "--clear-groups", cmd.Path}
	argv := wrapped(script{}, "/bin/sh", "-c", `sleep 1000 & exec "$0" root "$1" "$2"`, root, ready, end)
	lived, worked := orphaned(t, ready, end, "setpriv", append(as, argv[1:]...)...)
	t.Logf("lived for %v and used %v", lived, worked)
	if lived < time.Second || lived > soon || worked > 500*time.Millisecond {
		t.Errorf("it lived for %v, want two seconds, and used %v of a processor", lived, worked)
	}
}
