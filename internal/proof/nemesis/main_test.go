//go:build linux

// Package nemesis lets twenty redlockruns contend for some locks, on each kind of store, while
// processes are frozen and killed, servers are frozen, killed and cut off, and operators pause,
// resume, stop and unlock. What the jobs saw of each other is held against a model of the lock.
//
// It takes minutes, so `make test` runs only the tests of the checker itself, and kills sixty
// runs: `make nemesis` runs the rest, and `make killed-runs` kills ten thousand.
package nemesis

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"redlockrun/internal/proof/seeded"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) != "" {
		play(os.Args[1:])
		return
	}
	os.Exit(m.Run())
}

// lengthVar says how long faults are injected on each store. Without it there is no nemesis.
const lengthVar = "NEMESIS"

func length(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(lengthVar)
	if text == "" {
		t.Skip("left to make nemesis: it takes minutes")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A seededFault is a text of the program with something wrong in it; the zero one is none.
type seededFault struct{ name, file, old, new string }

// top is the top of the tree, seen from here.
const top = "../../.."

// build is the program, with a fault in it, and never in the tree.
func build(t *testing.T, fault seededFault) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "redlockrun")
	args := []string{"build", "-trimpath", "-o", program}
	if fault.file != "" {
		list, err := seeded.Overlay(dir, top, seeded.Edit{File: fault.file, Old: fault.old, New: fault.new})
		must(t, err)
		args = append(args, "-overlay", list)
	}
	cmd := exec.Command("go", append(args, "redlockrun/cmd/redlockrun")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build redlockrun: %v\n%s", err, out)
	}
	return program
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An instant is one of CLOCK_BOOTTIME, which all processes of a machine read alike.
type instant int64

func now() instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err)
	}
	return instant(ts.Nano())
}

func (i instant) plus(d time.Duration) instant { return i + instant(d) }

func (i instant) sub(j instant) time.Duration { return time.Duration(i - j) }

func (i instant) String() string { return fmt.Sprintf("%.3fs", time.Duration(i).Seconds()) }
