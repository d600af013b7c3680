package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/explain"
	"redlockrun/internal/proof/redistest"
)

// A run is dead when its command is. The command still lives if the guard comes to it late.
func TestUnlockRefusesARunWhoseCommandLives(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	log := filepath.Join(t.TempDir(), "log")
	run := launch(t, s.URL(), "-k", "orders", "--ttl", "1h", "job", log)
	untilRuns(t, log, 1)
	until(t, "the guard", func() bool { return guardOf(run) != 0 })
	id, command := runsOf(t, log)[0], commandOf(t, run)
	guard := guardOf(run)
	t.Cleanup(func() { syscall.Kill(guard, syscall.SIGCONT) }) // it ends what is left
	syscall.Kill(guard, syscall.SIGSTOP)                       // one that is killed is replaced
	run.kill()

	refused := launch(t, s.URL(), "unlock", "orders", "--run", id)
	refused.ends(explain.StatusBusy)
	if said := refused.stderr(); !strings.Contains(said,
		"process "+strconv.Itoa(command)+" of its command still runs") {
		t.Errorf("said %q", said)
	}
	if held, err := s.Do("EXISTS", "redlockrun:{orders}"); err != nil || held != int64(1) {
		t.Errorf("the lock was taken away: %v, %v", held, err)
	}
	syscall.Kill(guard, syscall.SIGCONT)
	until(t, "the lock taken from who is dead", func() bool {
		freed := launch(t, s.URL(), "unlock", "orders", "--run", id)
		<-freed.done
		return statusOf(freed.cmd.ProcessState) == 0
	})
}

// commandOf is the process of a run's command: a child that is not the guard.
func commandOf(t *testing.T, run *process) int {
	t.Helper()
	guard := strconv.Itoa(guardOf(run))
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", run.cmd.Process.Pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(text)) {
			if child != guard {
				pid, _ := strconv.Atoi(child)
				return pid
			}
		}
	}
	t.Fatal("no command")
	return 0
}
