//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory is what redlockrun and its guard take while the command does nothing.
func memory(b *bench) error {
	started := filepath.Join(b.dir, "started")
	cmd := command(b.redlockrun(b.server.URL(), "sh", "-c", `: >"$0"; exec sleep 60`, started))
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	defer cmd.Process.Signal(os.Interrupt)
	if err := await(func() bool { _, err := os.Stat(started); return err == nil }); err != nil {
		return err
	}
	own, err := proportional(cmd.Process.Pid)
	if err != nil {
		return err
	}
	var guard int
	if err := await(func() bool { guard = guardOf(cmd.Process.Pid); return guard != 0 }); err != nil {
		return err
	}
	guards, err := proportional(guard)
	if err != nil {
		return err
	}
	b.say("memory of redlockrun and of its guard", fmt.Sprintf("%.1f MB and %.1f MB", own, guards))
	b.atMost("memory of both (PSS)", "MB", own+guards, 12)
	return nil
}

// proportional is the PSS of a process in MB; see proc_pid_smaps(5).
func proportional(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "Pss:" {
			kb, err := strconv.Atoi(words[1])
			return float64(kb) * 1024 / 1e6, err
		}
	}
	return 0, errors.New("read smaps_rollup: no Pss")
}

// guardOf is the guard of a redlockrun, 0 before it has been executed: until then
// it is a copy of its parent, and takes less.
func guardOf(parent int) int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, path := range tasks {
		children, _ := os.ReadFile(path) // a thread may end meanwhile
		for _, child := range strings.Fields(string(children)) {
			arguments, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if string(arguments) == fmt.Sprintf("redlockrun-guard\x000\x00%d\x00", parent) {
				pid, _ := strconv.Atoi(child)
				return pid
			}
		}
	}
	return 0
}

// await waits for something that happens in a moment.
func await(happened func() bool) error {
	for deadline := time.Now().Add(10 * time.Second); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("wait for the command and its guard to start: they did not within 10 s")
		}
	}
	return nil
}
