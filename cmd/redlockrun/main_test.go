package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"redlockrun/internal/outset"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary play the commands that scripts run under a lock.
func TestMain(m *testing.M) {
	outset.ReturnSignals() // the tests, and jobs, are no redlockrun
	runtime.SetDefaultGOMAXPROCS()
	testscript.Main(cleaning{m}, map[string]func(){"job": jobMain, "permitted": permittedMain})
}

// raceVar is the variable that steers the race detector of jobs.
const raceVar = "GORACE"

// cleaning removes what built has made when all tests are over.
type cleaning struct{ m *testing.M }

func (c cleaning) Run() int {
	forgetIgnored()
	os.Setenv(raceVar, "atexit_sleep_ms=0") // else every job takes a second to end
	// Most of a test's time is spent in waiting for a lease to end.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	defer func() { os.RemoveAll(builtDir) }()
	return c.m.Run()
}

// forgetIgnored lets what the tests start begin like a program that is called in
// the foreground, though the tests themselves run under nohup(1) or with "&".
func forgetIgnored() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

var builtDir string

// built is the directory of the true program, which is built once: its guard
// is the program's own file, executed again.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "redlockrun")
	if err != nil {
		return "", err
	}
	builtDir = dir
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "redlockrun"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build redlockrun: %w\n%s", err, out)
	}
	return dir, nil
})

// binary is the path of the program.
func binary(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "redlockrun")
}
