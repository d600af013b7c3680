package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Of the memory that redlockrun has needed to start, a run that lasts keeps less than half.
func TestALongRunKeepsLittleMemory(t *testing.T) {
	t.Parallel()
	run := launch(t, "", "-k", "job", "--local="+t.TempDir(), "-c", "exec sleep 300")
	until(t, "a smaller process", func() bool {
		most, now := kibOf(run, "VmHWM:"), kibOf(run, "VmRSS:")
		return now > 0 && now < most/2
	})
}

// kibOf returns the value of a name in /proc/PID/status, in KiB; 0 if it is missing.
func kibOf(p *process, name string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), name)
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}
