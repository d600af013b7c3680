//go:build linux

package main

import (
	"errors"
	"fmt"
	"strings"

	"redlockrun/scripts/page"
)

// A sum is of some rounds.
type sum struct{ rounds, acked, lost, struck int }

func (s sum) String() string {
	if s.rounds == 0 {
		return "–"
	}
	return fmt.Sprint(s.lost)
}

// total is the outcomes that a question takes in.
func (t *tally) total(in func(fault, outcome) bool) (s sum) {
	for _, f := range faults() {
		for _, o := range t.outcomes[f.name] {
			if !in(f, o) {
				continue
			}
			s.rounds++
			s.acked += o.acked
			s.lost += o.lost
			if o.struck {
				s.struck++
			}
		}
	}
	return s
}

func inside(f fault, o outcome) bool  { return f.inside && o.stood == 0 }
func outside(f fault, o outcome) bool { return !inside(f, o) }
func stood(f fault, o outcome) bool   { return f.inside && o.stood > 0 }
func every(fault, outcome) bool       { return true }

// of is a fault by itself. Of those inside, rounds in which the machine stood still are not.
func of(name string) func(fault, outcome) bool {
	return func(f fault, o outcome) bool { return f.name == name && !stood(f, o) }
}

// table is what docs/dev/proof/lost-updates.md shows, and of how many rounds it tells.
func table(tallies []*tally) string {
	var text strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	head := []string{"", "the lock"}
	for _, f := range faults() {
		if !f.inside {
			continue
		}
		head = append(head, f.title)
	}
	head = append(head, "**inside the assumptions**")
	for _, f := range faults() {
		if !f.inside {
			head = append(head, f.title)
		}
	}
	head = append(head, "the test's machine stands still", "**outside of them**", "again by `scripts/lost-updates.sh`")
	line(head...)
	line(strings.Split(strings.Repeat("--- ", len(head)-1)+"---", " ")...)
	for _, t := range tallies {
		line(t.cells()...)
	}
	rounds, lagging := 0, 0
	for _, t := range tallies {
		rounds += t.total(every).rounds
		lagging += t.total(stood).rounds
	}
	fmt.Fprintf(&text, "\n%d rounds; in %d that were to be inside the assumptions the test's machine stood still.\n",
		rounds, lagging)
	return text.String()
}

func (t *tally) cells() []string {
	cells := []string{t.row.title, t.row.line}
	total := func(in func(fault, outcome) bool) string {
		s := t.total(in)
		return fmt.Sprintf("**%d** of %d", s.lost, s.acked)
	}
	for _, f := range faults() {
		if f.inside {
			cells = append(cells, t.total(of(f.name)).String())
		}
	}
	cells = append(cells, total(inside))
	for _, f := range faults() {
		if !f.inside {
			cells = append(cells, t.total(of(f.name)).String())
		}
	}
	return append(cells, t.total(stood).String(), total(outside), "`"+t.row.name+"`")
}

// judge is nil if nobody lost what they promise to keep, who has no lock did lose, and
// each row has seen enough to say so.
func judge(tallies []*tally, p *plan) (err error) {
	for _, t := range tallies {
		for _, e := range t.faults(p) {
			err = errors.Join(err, fmt.Errorf("%s: %w", t.row.name, e))
		}
	}
	return err
}

func (t *tally) faults(p *plan) (found []error) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			found = append(found, fmt.Errorf(format, args...))
		}
	}
	in, out, all := t.total(inside), t.total(outside), t.total(every)
	say(t.row.inside && in.lost > 0, "lost %d of %d updates inside the assumptions", in.lost, in.acked)
	say(t.row.outside && out.lost > 0, "lost %d of %d updates outside of the assumptions", out.lost, out.acked)
	say(t.row.loses && all.lost == 0, "lost nothing: the workload finds nothing")
	say(all.acked < 2*enough*all.rounds, "did too little: %d updates in %d rounds", all.acked, all.rounds)
	for _, f := range p.faults {
		if !f.meets(t.row, t.cables) {
			continue
		}
		s := t.total(func(g fault, _ outcome) bool { return g.name == f.name })
		say(2*s.struck < p.times, "met too few faults: %d of %d rounds of %s came in time", s.struck, s.rounds, f.name)
		calm := t.total(of(f.name)).rounds
		say(!p.short && 2*calm < p.times,
			"the machine stood still in most rounds of %s: run it again when it does less", f.name)
	}
	return found
}

// part is where the table stands in a page.
var part = page.Part{Begin: "<!-- lost updates -->\n", End: "<!-- end of lost updates -->\n"}
