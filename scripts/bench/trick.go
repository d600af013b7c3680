//go:build linux

package main

import "fmt"

// worth is what a trick for speed has to save to be kept.
const worth = 5.0

// judge holds the program against one without some trick: as many fresh copies
// of each, in turn.
func (b *bench) judge(without string) (err error) {
	if b.without, err = fresh(without, b.dir); err != nil {
		return err
	}
	for _, init := range []bool{false, true} {
		if err := b.judgeStart(init); err != nil {
			return err
		}
	}
	return b.judgeHandOver()
}

func (b *bench) judgeStart(init bool) error {
	next := 0
	r, err := b.contest(b.programs, func(program string) []contender {
		without := b.without[next]
		next++
		return []contender{
			{name: "without", argv: redlockrun(without, b.server.URL(), "true"), init: init},
			{name: "with", argv: redlockrun(program, b.server.URL(), "true"), init: init},
			{name: "flock -n FILE true", argv: b.flock("true"), init: init},
		}
	})
	if err != nil {
		return err
	}
	what := "A run of true"
	if init {
		what = "A run of true as PID 1, the namespace included"
	}
	b.printTimes(what, r)
	saves("wall", timesEach(r[1], r[0], wall))
	saves("cpu", timesEach(r[1], r[0], cpu))
	return nil
}

// judgeHandOver compares hand-overs, where a trick can help or harm in another way.
func (b *bench) judgeHandOver() error {
	const parked = 100
	var ratios []float64
	for i, with := range b.programs {
		var took [2][]float64
		for range max(3, min(b.runs/20, 10)) {
			for k, program := range []string{b.without[i], with} {
				each, err := b.ourHandOver(program, parked)
				if err != nil {
					return err
				}
				took[k] = append(took[k], milliseconds(each))
			}
		}
		fmt.Printf("\nHand-over with %d parked, each: %.2f ms without, %.2f ms with", parked, median(took[0]),
			median(took[1]))
		ratios = append(ratios, median(took[1])/median(took[0]))
	}
	fmt.Println()
	saves("hand-over", ratios)
	return nil
}

// saves says what a trick takes off, by the ratio with to without of each copy.
func saves(what string, ratios []float64) {
	percent := 100 * (1 - median(ratios))
	verdict := "not worth it"
	if percent >= worth {
		verdict = "worth it"
	}
	fmt.Printf("  the trick saves %5.1f %% of %s (copies differ by %.0f %%): %s\n", percent, what, spread(ratios),
		verdict)
}
