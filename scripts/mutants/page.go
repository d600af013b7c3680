package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"redlockrun/scripts/page"
)

// place is where the seeded faults stand in a page.
var place = page.Part{Begin: "<!-- begin: written by scripts/simulate.sh faults -->\n",
	End: "<!-- end of the seeded faults -->\n"}

const tableHead = "| fault | where | seeds | what is seen |\n| --- | --- | --- | --- |\n"

// look simulates with each fault in the program, and writes what is seen into a page if one is named. What was
// tried before and not now stays in the page.
func look(faults []fault, path string) error {
	keep := func(s observation) error {
		return place.Write(path, func(old string) string { return paged(old, []observation{s}) })
	}
	if path == "" {
		keep = func(observation) error { return nil }
	}
	if !simulate(os.Stdout, faults, keep) {
		return fmt.Errorf("not all was seen as it is said, or nothing was tried")
	}
	return nil
}

// paged is what the page says of the seeded faults, with what was seen now.
func paged(old string, sights []observation) string {
	return tableHead + rows(old, sights) + outOfSight() + notTried() + ofRecord()
}

// rows are those of the faults that can be seen: as they were seen now, or else as the table has them.
func rows(table string, sights []observation) string {
	var b strings.Builder
	for _, f := range simulated() {
		if unseen[f.name] != "" {
			continue
		}
		at := slices.IndexFunc(sights, func(s observation) bool {
			return s.name == f.name && s.file == f.file &&
				s.err == nil
		})
		if at >= 0 {
			b.WriteString(sights[at].row())
		} else {
			b.WriteString(rowOf(table, f))
		}
	}
	return b.String()
}

// head is how the row of a fault begins.
func (f fault) head() string { return fmt.Sprintf("| %s | %s |", f.name, f.where()) }

func (s observation) row() string {
	if s.seeds == "" {
		return fmt.Sprintf("%s not in %d | |\n", s.head(), mostSeeds)
	}
	return fmt.Sprintf("%s %s | %s |\n", s.head(), s.seeds, s.what)
}

// rowOf is the row that a table has of a fault, if it has one.
func rowOf(table string, f fault) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, f.head()) {
			return line
		}
	}
	return ""
}

// outOfSight are the faults that worlds do not show, by the reasons.
func outOfSight() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nThese cannot be seen there, and were not in the first %d seeds:\n\n", vainSeeds)
	var reasons []string
	names := make(map[string][]string)
	for _, f := range simulated() {
		why := unseen[f.name]
		if why == "" {
			continue
		}
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], fmt.Sprintf("%s (%s)", f.name, f.where()))
	}
	for _, why := range reasons {
		fmt.Fprintf(&b, "- %s: %s\n", why, strings.Join(names[why], ", "))
	}
	return b.String()
}

// notTried are the faults that tests find, and that have not been simulated.
func notTried() string {
	var names []string
	for _, f := range simulated() {
		if slices.Contains(untried, f.name) {
			names = append(names, fmt.Sprintf("%s (%s)", f.name, f.where()))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "\nThese have not been simulated yet; each has a test that finds it:\n\n- " + strings.Join(names, "\n- ") +
		"\n"
}

// ofRecord are the faults of the track record: what each is called here, or why it is not put back.
func ofRecord() string {
	var b strings.Builder
	b.WriteString("\nThe track record's faults of the lock, the line, a quorum and the watchdog, and what they are " +
		"called\n" +
		"here, or why they were not put back:\n\n")
	for _, e := range recorded {
		what := e.why
		if e.row != "" {
			what = "“" + e.row + "”"
		}
		fmt.Fprintf(&b, "- %s … (`%s`): %s\n", e.words, e.commit, what)
	}
	return b.String()
}
