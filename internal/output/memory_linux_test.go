//go:build !race

package output_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"redlockrun/internal/output"
)

func init() { parts["memory"] = func(args []string) int { return playMemory(args[0] == "tapped") } }

// playMemory runs a command that prints a lot, with a tap or without, and prints its own memory
// in KiB.
func playMemory(withTap bool) int {
	cmd := exec.Command("/bin/sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2")
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	other, err := os.OpenFile("/dev/zero", os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	cmd.Stdout, cmd.Stderr = null, other
	end := func() {}
	if withTap {
		tap, err := output.New(null, other, 64<<10)
		if err != nil {
			panic(err)
		}
		cmd.Stdout, cmd.Stderr = tap.Stdout(), tap.Stderr()
		end = func() { tap.End() }
	}
	if err := cmd.Run(); err != nil {
		panic(err)
	}
	end()
	fmt.Println(privateKiB())
	return 0
}

// privateKiB is this process's proportional part of the memory that it uses.
func privateKiB() int {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[0] == "Pss_Anon:" {
			n, _ := strconv.Atoi(fields[1])
			return n
		}
	}
	panic("no Pss_Anon")
}

func TestATapNeedsLittleMemory(t *testing.T) {
	memory := func(how string) (least int) {
		for i := range 5 {
			out, err := exec.Command("/proc/self/exe", "memory", how).Output()
			if err != nil {
				t.Fatal(err)
			}
			if n := atoi(t, strings.TrimSpace(string(out))); i == 0 || n < least {
				least = n
			}
		}
		return least
	}
	without, with := memory("without"), memory("tapped")
	t.Logf("%d KiB, and %d KiB with a tap", without, with)
	if with > without+300 {
		t.Errorf("%d KiB, and %d KiB with a tap", without, with)
	}
}
