//go:build linux

// Bench measures redlockrun against bare commands, flock(1) and redis-cli, on
// a Redis of its own, and says which bars were met. Times are measured in
// turn, one run of each contender after the other, so that whatever else the
// machine does happens to all of them; only ratios are held to a bar.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"redlockrun/internal/redistest"
)

// A bench is what every measurement has at hand.
type bench struct {
	program string // the redlockrun that is measured
	dir     string // for lock files
	server  *redistest.Server
	runs    int // of each contender
	report
}

// measurements are made in this order; each adds rows and bars to the report.
var measurements = []func(*bench) error{
	startUp,
	scripted,
	startUpAsInit,
	longerCommand,
	wire,
	memory,
	overQuorum,
	handOver,
	stores,
}

func main() {
	program := flag.String("program", "./redlockrun", "the redlockrun to measure")
	runs := flag.Int("runs", 300, "how often each contender is run")
	flag.Parse()
	met, err := run(*program, *runs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

func run(program string, runs int) (met bool, err error) {
	dir, err := os.MkdirTemp("", "redlockrun-bench")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if program, err = installed(program, dir); err != nil {
		return false, err
	}
	server, err := redistest.New(dir, redistest.Options{})
	if err != nil {
		return false, err
	}
	defer server.Close()
	b := &bench{program: program, dir: dir, server: server, runs: runs}
	for _, measure := range measurements {
		if err := measure(b); err != nil {
			return false, err
		}
	}
	return b.printBars(), nil
}

// installed is a copy of the program, as make install makes it.
func installed(program, dir string) (string, error) {
	path := filepath.Join(dir, "redlockrun")
	if out, err := exec.Command("scripts/place.sh", program, path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s: %s", program, out)
	}
	return path, nil
}

// redlockrun is the command line that runs argv under the lock, at the given URL.
func (b *bench) redlockrun(url string, argv ...string) []string {
	return append([]string{b.program, "--key", "bench", "--redis", url, "--"}, argv...)
}

func (b *bench) flock(argv ...string) []string {
	return append([]string{"flock", "-n", filepath.Join(b.dir, "lock")}, argv...)
}
