//go:build linux

package soak

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

// Processes, from the command line to the log; a hundred of them, again and
// again, are in the tests of internal/lock.
func TestProcessesRunInTheOrderInWhichTheyCame(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	log := filepath.Join(t.TempDir(), "log")
	start := func(argv ...string) *exec.Cmd {
		cmd := exec.Command(program, append([]string{"--key", "job", "--wait", "600", "--"}, argv...)...)
		cmd.Env, cmd.Stderr = environment(server), os.Stderr
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd
	}
	holder := start("cat")
	end, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	waiters := []*exec.Cmd{holder}
	for n := range 20 {
		if n > 0 {
			waiters = append(waiters, start("sh", "-c", `echo "$0 $REDLOCKRUN_FENCE" >>"$1"`, fmt.Sprint(n), log))
		}
		if err := waiters[n].Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("%d in line", n), func() bool {
			held, err := server.Do("EXISTS", "redlockrun:{job}")
			waiting, err2 := server.Do("ZCARD", "redlockrun:{job}:line")
			return err == nil && err2 == nil && held == int64(1) && waiting == int64(n)
		})
	}
	for _, w := range waiters[1:] { // a hand-over does not wait for the guard
		eventually(t, "a guard beside each waiter", func() bool { return hasChild(w.Process.Pid) })
	}
	end.Close()
	for n, w := range waiters {
		if err := w.Wait(); err != nil {
			t.Errorf("waiter %d: %v", n, err)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	n, fence := 0, int64(0)
	for line := range strings.Lines(string(text)) {
		var who int
		var number int64
		if _, err := fmt.Sscan(line, &who, &number); err != nil || who != n+1 || number <= fence {
			t.Errorf("line %q after %d with fence %d", line, n, fence)
		}
		n, fence = who, number
	}
	if n != len(waiters)-1 {
		t.Errorf("the last to run was %d", n)
	}
}

func hasChild(pid int) bool {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		if text, err := os.ReadFile(list); err == nil && len(text) > 0 {
			return true
		}
	}
	return false
}

func eventually(t *testing.T, what string, state func() bool) {
	t.Helper()
	if !redistest.Until(patience, state) {
		t.Fatalf("%s: it did not come", what)
	}
}
