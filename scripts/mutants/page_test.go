package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../" + path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each fault that worlds could show is in the page: whoever adds one runs
// scripts/simulate.sh faults WORDS for it.
func TestThePageHasEachSeededFault(t *testing.T) {
	t.Parallel()
	text, err := place.In(read(t, "docs/dev/proof/seeded-faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	if paged(text, nil) != text {
		t.Error("docs/dev/proof/seeded-faults.md does not fit scripts/mutants: run scripts/simulate.sh faults WORDS")
	}
	for _, f := range simulated() {
		waits := slices.Contains(untried, f.name)
		if waits && (unseen[f.name] != "" || rowOf(text, f) != "") {
			t.Errorf("%q was simulated: take it out of untried", f.name)
		}
		if unseen[f.name] == "" && !waits && rowOf(text, f) == "" {
			t.Errorf("docs/dev/proof/seeded-faults.md has no row of %q (%s): run scripts/simulate.sh faults %q",
				f.name, f.where(), f.name)
		}
	}
}

// What is said of a fault is said of one that there is.
func TestEachReasonIsThatOfAFault(t *testing.T) {
	t.Parallel()
	for name := range unseen {
		if !isFault(name) {
			t.Errorf("%q is said not to be seen, and is no fault", name)
		}
	}
	for _, name := range untried {
		if !isFault(name) {
			t.Errorf("%q is said not to be simulated, and is no fault", name)
		}
	}
	for _, p := range recorded {
		if p.row != "" && !isFault(p.row) {
			t.Errorf("%s, %q: there is no fault %q", p.commit, p.words, p.row)
		}
	}
}

func isFault(name string) bool {
	return slices.ContainsFunc(simulated(), func(f fault) bool { return f.name == name })
}

// Each fault of the record that was one of the lock, the line, a quorum or the watchdog is put
// back here, or it is said why not.
func TestTheTrackRecordIsPutBack(t *testing.T) {
	t.Parallel()
	used := 0
	for block := range strings.SplitSeq(read(t, "scripts/trackrecord/faults.txt"), "\n\n") {
		commit, part, text := field(block, "commit"), field(block, "part"), field(block, "fault")
		if !slices.Contains([]string{"lock", "line", "quorum", "watchdog"}, part) {
			continue
		}
		at := slices.IndexFunc(recorded,
			func(p past) bool { return p.commit == commit && strings.HasPrefix(text, p.words) })
		if at < 0 {
			t.Errorf("%s (%s) is neither put back in scripts/mutants/past.go, nor is said why not: %s", commit, part,
				text)
			continue
		}
		used++
		if p := recorded[at]; (p.row == "") == (p.why == "") {
			t.Errorf("%s: there is not one of a row and a reason: %s", commit, text)
		}
	}
	if used != len(recorded) {
		t.Errorf("%d of %d entries of past.go are faults of the record", used, len(recorded))
	}
}

// field is the value of a field of an entry of the record.
func field(block, name string) string {
	for line := range strings.Lines(block) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
