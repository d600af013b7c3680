//go:build linux

// Bench measures redlockrun against bare commands, flock(1) and redis-cli, on
// a Redis of its own, and says which bars were met. Times are measured in
// turn, one run of each contender after the other, so that whatever else the
// machine does happens to all of them; only ratios are held to a bar.
//
// Two copies of the same bytes can differ by 15 % for as long as they live: what
// the kernel keeps them in differs. So whatever runs redlockrun is measured
// with several fresh copies, and the median of the copies counts.
//
// With -trick it holds two builds against each other instead: -program with a
// trick, and the one named there without.
package main

import (
	"flag"
	"fmt"
	"os"

	"redlockrun/internal/proof/redistest"
)

// A bench is what every measurement has at hand.
type bench struct {
	programs []string // fresh copies of the redlockrun that is measured
	without  []string // and of the one that it is held against
	dir      string   // for lock files
	server   *redistest.Server
	runs     int // of each contender with each copy
	report
}

// measurements are made in this order; each adds rows and bars to the report.
var measurements = []func(*bench) error{
	startUp,
	remembered,
	readBack,
	scripted,
	startUpAsInit,
	longerCommand,
	wire,
	holding,
	overQuorum,
	handOver,
	stores,
}

func main() {
	program := flag.String("program", "./redlockrun", "the redlockrun to measure")
	without := flag.String("trick", "", "a build without some trick, to compare with")
	runs := flag.Int("runs", 150, "how often each contender is run with each copy")
	flag.Parse()
	met, err := run(*program, *without, *runs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

func run(program, without string, runs int) (met bool, err error) {
	dir, err := os.MkdirTemp("", "redlockrun-bench")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	server, err := redistest.New(dir, redistest.Options{})
	if err != nil {
		return false, err
	}
	defer server.Close()
	b := &bench{dir: dir, server: server, runs: runs}
	if b.programs, err = fresh(program, dir); err != nil {
		return false, err
	}
	if without != "" {
		return true, b.judge(without)
	}
	for _, measure := range measurements {
		if err := measure(b); err != nil {
			return false, err
		}
	}
	return b.printBars(), nil
}

// redlockrun is the command line that runs argv under the lock, at the given URL.
func redlockrun(program, url string, argv ...string) []string {
	return append([]string{program, "--key", "bench", "--redis", url, "--"}, argv...)
}

func (b *bench) flock(argv ...string) []string {
	return append([]string{"flock", "-n", b.dir + "/lock"}, argv...)
}
