//go:build linux

// Scale lets thousands hold and wait on servers of its own, and measures what that costs
// the servers, and how long an acquire, a hand-over and a status take meanwhile: how each
// grows, what breaks first, and what three masters of a Cluster make of it.
//
// The load is made by processes of its own that run the program's packages: each holder
// has its connection and its renewals, each waiter its two connections and its looks. Some
// of them are real redlockruns. All of this shares the machine with the server, so the
// load program's own processor is measured, too.
//
// What is measured is kept in a file, from which the picture and the tables are made.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// parts are measured one by one: each takes at most five minutes.
var parts = []struct {
	name string
	run  func(*scale) error
}{
	{"growth", growth},
	{"more", more},
	{"costs", costs},
	{"full", full},
	{"cluster", overCluster},
}

// A scale is what every part has at hand.
type scale struct {
	program string // the redlockrun that is measured
	dir     string
	figures *figures
	rest    time.Duration // how long those who hold and wait are left alone, to be measured
	divisor int           // of all numbers, to try it
}

func main() {
	program := flag.String("program", "./redlockrun", "the redlockrun to measure")
	only := flag.String("part", "", "measure these parts alone (none: draw what is there): "+partNames())
	into := flag.String("into", "docs/dev/proof/scale.json", "where the figures are kept")
	picture := flag.String("picture", "docs/dev/proof/scale.svg", "where the picture is drawn")
	divisor := flag.Int("divisor", 1, "try it with so many times fewer")
	url := flag.String("load", "", "be a process that makes load, at this URL; orders come on stdin")
	flag.Parse()
	if *url != "" {
		exitOn(serve(*url))
		return
	}
	exitOn(run(*program, *only, *into, *picture, *divisor))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ",")
}

func run(program, only, into, picture string, divisor int) error {
	found, err := readFigures(into)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "redlockrun-scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &scale{program: program, dir: dir, figures: found, rest: 20 * time.Second, divisor: divisor}
	for _, p := range parts {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		fmt.Println(p.name)
		if err := p.run(s); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := found.write(into); err != nil {
			return err
		}
	}
	fmt.Print("\n", found.tables())
	return os.WriteFile(picture, []byte(draw(found.Growth)), 0o644)
}
