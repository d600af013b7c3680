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
	guard, err := guardOf(cmd.Process.Pid)
	if err != nil {
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

// guardOf is the child of a redlockrun that runs the same program.
func guardOf(parent int) (int, error) {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", parent))
	if err != nil {
		return 0, err
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		return 0, err
	}
	var children []byte
	for _, path := range tasks {
		more, _ := os.ReadFile(path) // a thread may end meanwhile
		children = append(append(children, ' '), more...)
	}
	for _, child := range strings.Fields(string(children)) {
		if exe, err := os.Readlink("/proc/" + child + "/exe"); err == nil && exe == program {
			return strconv.Atoi(child)
		}
	}
	return 0, errors.New("find the guard: redlockrun has no child of its own kind")
}

// await waits for something that happens in a moment.
func await(happened func() bool) error {
	for deadline := time.Now().Add(10 * time.Second); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("wait for the command to start: it did not within 10 s")
		}
	}
	return nil
}
