//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// heldFor is how long held locks are watched: one renewal of each.
const heldFor = 20500 * time.Millisecond

// holding is what redlockrun and its guard take while the command does nothing:
// memory, and then, over a while, processor and wake-ups.
func holding(b *bench) (err error) {
	var holders []*holder
	defer func() {
		for _, h := range holders {
			h.end()
		}
	}()
	for i, program := range b.programs {
		h, err := b.hold(program, "held"+strconv.Itoa(i))
		if err != nil {
			return err
		}
		holders = append(holders, h)
	}
	if err := b.memory("when its command starts", 0, holders); err != nil {
		return err
	}
	if err := b.idle(holders); err != nil {
		return err
	}
	return b.memory("once it was renewed", 10.5, holders)
}

// memory is what a held lock occupies at the moment that is said. A bar of 0 is none.
func (b *bench) memory(moment string, bar float64, holders []*holder) error {
	var own, guards, both []float64
	for _, h := range holders {
		mine, err := proportional(h.pid())
		if err != nil {
			return err
		}
		theirs, err := proportional(h.guard)
		if err != nil {
			return err
		}
		own, guards, both = append(own, mine), append(guards, theirs), append(both, mine+theirs)
	}
	b.say("memory of a held lock "+moment, fmt.Sprintf("redlockrun %.1f MB, guard %.1f MB (copies differ by %.0f %%)",
		median(own), median(guards), spread(both)))
	if bar > 0 {
		b.atMost("memory of both "+moment+" (PSS)", "MB", median(both), bar)
	}
	return nil
}

func (b *bench) idle(holders []*holder) error {
	var wakes, cpu []float64
	before, err := usages(holders)
	if err != nil {
		return err
	}
	time.Sleep(heldFor)
	after, err := usages(holders)
	if err != nil {
		return err
	}
	for i := range holders {
		wakes = append(wakes, float64(after[i].wakes-before[i].wakes)/heldFor.Seconds())
		cpu = append(cpu, float64(after[i].ns-before[i].ns)/1e9*float64(time.Hour/heldFor))
	}
	b.say("each held lock, beside its command",
		fmt.Sprintf("%.2f s of processor an hour, %.2f wake-ups a second", median(cpu), median(wakes)))
	return nil
}

// A holder holds a lock while its command sleeps.
type holder struct {
	cmd   *exec.Cmd
	guard int
}

func (h *holder) pid() int { return h.cmd.Process.Pid }

func (h *holder) end() {
	h.cmd.Process.Signal(os.Interrupt)
	h.cmd.Wait()
}

func (b *bench) hold(program, key string) (h *holder, err error) {
	started := filepath.Join(b.dir, key)
	h = &holder{cmd: command([]string{program, "--key", key, "--redis", b.server.URL(), "--", "sh", "-c",
		`: >"$0"; exec sleep 120`, started})}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	err = await(func() bool {
		h.guard = guardOf(h.pid())
		_, missing := os.Stat(started)
		return h.guard != 0 && missing == nil
	})
	if err != nil {
		h.end()
	}
	return h, err
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

// A usage is how often the threads of a redlockrun and of its guard have run, and
// how long: proc_pid_schedstat(5).
type usage struct{ wakes, ns int64 }

func usages(holders []*holder) (all []usage, err error) {
	for _, h := range holders {
		var sum usage
		for _, pid := range []int{h.pid(), h.guard} {
			if err := sum.add(pid); err != nil {
				return nil, err
			}
		}
		all = append(all, sum)
	}
	return all, nil
}

func (u *usage) add(pid int) error {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return err
	}
	for _, path := range tasks {
		var ran, waited, times int64
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(string(text), &ran, &waited, &times); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		u.ns, u.wakes = u.ns+ran, u.wakes+times
	}
	return nil
}

// guardOf is the guard of a redlockrun, 0 before it has been executed: until then
// it is a copy of its parent, and takes less.
func guardOf(parent int) int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, path := range tasks {
		children, _ := os.ReadFile(path) // a thread may end meanwhile
		for _, child := range strings.Fields(string(children)) {
			arguments, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.HasPrefix(string(arguments), fmt.Sprintf("lease-guard\x000\x00%d\x00", parent)) {
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
