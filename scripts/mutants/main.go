// Mutants puts known faults into the program, one at a time and never into the tree, and runs
// for each the test that must find it. A fault that no test finds is an error, and so is a
// test that fails without it.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	part := flag.Int("part", 1, "run one of so many, drawn by the date")
	only := flag.String("only", "", "run the faults whose file or words contain this")
	worlds := flag.Bool("simulate", false,
		"say after how many seeds the simulator sees each, in place of running its test")
	table := flag.String("table", "", "write what the simulator sees into the table of this page, too")
	date := flag.String("date", time.Now().UTC().Format(time.DateOnly), "the date that a part is drawn by")
	each := flag.Int("draw", 0, "in place of known faults, put one at each k-th of all places: so many")
	from := flag.Int("from", 0, "with -draw: begin with this one")
	flag.Parse()
	if *each > 0 {
		if err := draw(os.Stdout, *each, *from); err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(1)
		}
		return
	}
	if *worlds {
		if err := look(matching(simulated(), *only), *table); err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(1)
		}
		return
	}
	chosen := drawn(matching(faults(), *only), *part, *date)
	g := &gate{out: os.Stdout}
	if !g.run(chosen) {
		os.Exit(1)
	}
}

func faults() []fault {
	return slices.Concat(lineFaults, ledgerFaults, slotFaults, quorumFaults, lockFaults, linkFaults,
		watchdogFaults, runnerFaults, guardFaults, programFaults)
}

func matching(all []fault, words string) (some []fault) {
	for _, f := range all {
		if strings.Contains(f.file, words) || strings.Contains(f.name, words) {
			some = append(some, f)
		}
	}
	return some
}

// drawn is one part of some faults: those of the day, so that in so many days each has its turn.
func drawn(all []fault, parts int, date string) (some []fault) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the date is YYYY-MM-DD:", err)
		os.Exit(64)
	}
	turn := int(day.Unix()/int64(24*time.Hour/time.Second)) % parts
	for i, f := range all {
		if i%parts == turn {
			some = append(some, f)
		}
	}
	return some
}
