//go:build linux

package main

import "fmt"

// A report collects the bars, which are printed together at the end.
type report struct{ bars []bar }

type bar struct {
	what, unit   string
	value, limit float64
	goal         bool // not reaching it is no failure
}

func (r *report) printTimes(title string, results []result) {
	fmt.Printf("\n%s\n%-32s %10s %10s %10s %10s\n", title, "", "wall ms", "x first", "cpu ms", "x first")
	for _, x := range results {
		fmt.Printf("  %-30s %10.2f %10.2f %10.2f %10.2f\n", x.name,
			milliseconds(x.wall), ratio(x.wall, results[0].wall), milliseconds(x.cpu), ratio(x.cpu, results[0].cpu))
	}
}

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
