//go:build linux

// Package soak lets many redlockruns wait for one lock, in peace and while
// everything goes wrong that can: a short storm in each run of the tests, a long
// one by make soak.
package soak

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"redlockrun/internal/proof/redistest"
)

// program is the redlockrun that is tested.
var program string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "redlockrun-soak")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "redlockrun")
	cmd := exec.Command("go", "build", "-trimpath", "-o", program, "redlockrun/cmd/redlockrun")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build redlockrun: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func environment(s *redistest.Server) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "REDLOCKRUN_CONFIG=/dev/null", "REDLOCKRUN_REDIS=" + s.URL()}
}
