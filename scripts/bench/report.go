//go:build linux

package main

import (
	"fmt"
	"time"
)

// A report collects the bars, which are printed together at the end.
type report struct{ bars []bar }

type bar struct {
	what, unit   string
	value, limit float64
	goal         bool // not reaching it is no failure
}

// printTimes prints medians over the copies, and by how much the copies differ.
func (r *report) printTimes(title string, results []result) {
	fmt.Printf("\n%s\n%-32s %9s %9s %9s %9s %9s %9s\n", title, "", "wall ms", "x first", "copies %", "cpu ms",
		"x first", "faults")
	first := results[0]
	for _, x := range results {
		fmt.Printf("  %-30s %9.2f %9.2f %9.0f %9.2f %9.2f %9d\n", x.name,
			milliseconds(of(x, wall)), times(x, first, wall), spread(timesEach(x, first, wall)),
			milliseconds(of(x, cpu)), times(x, first, cpu), of(x, faults))
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (r *report) say(what, value string) { fmt.Printf("\n%s: %s\n", what, value) }

func (r *report) atMost(what, unit string, value, limit float64) {
	r.bars = append(r.bars, bar{what, unit, value, limit, false})
}

func (r *report) goal(what, unit string, value, limit float64) {
	r.bars = append(r.bars, bar{what, unit, value, limit, true})
}

// printBars reports whether all were met.
func (r *report) printBars() bool {
	met := true
	fmt.Println("\nBars")
	for _, b := range r.bars {
		verdict := "pass"
		switch {
		case b.value <= b.limit:
		case b.goal:
			verdict = "not reached (a goal)"
		default:
			verdict, met = "MISS", false
		}
		fmt.Printf("  %-28s %6.2f of at most %5.2f %-30s %s\n", b.what, b.value, b.limit, b.unit, verdict)
	}
	return met
}
