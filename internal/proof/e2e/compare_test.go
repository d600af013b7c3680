//go:build linux && e2e

package e2e

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cells returns what a table says, by row and column.
func cells(table string) map[[2]string]string {
	all := map[[2]string]string{}
	var head []string
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		row := strings.Split(strings.Trim(line, "|"), "|")
		for at := range row {
			row[at] = strings.TrimSpace(row[at])
		}
		switch {
		case i == 0:
			head = row
		case i > 1:
			for at, cell := range row[1:] {
				all[[2]string{row[0], head[at+1]}] = cell
			}
		}
	}
	return all
}

// The README's table has each cell that scripts/compare.sh measures. A cost is a range there, and is
// only held to be of that order here.
func TestReadmeTableIsWhatTheComparisonSees(t *testing.T) {
	s := newSite(t)
	script, err := filepath.Abs("../../../scripts/compare.sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	r := s.finish(s.command(ctx, script, "short", bin))
	if r.status != 0 || r.stderr != "" {
		t.Fatal(r)
	}
	got, told := cells(r.stdout), cells(block(t, "compare"))
	if len(got) < 20 {
		t.Fatalf("it measured %d cells", len(got))
	}
	for at, cell := range got {
		ratio, err := strconv.ParseFloat(cell, 64)
		most := regexp.MustCompile(`\d+$`).FindString(told[at])
		if err != nil && told[at] != cell {
			t.Errorf("%q: it measured %q, README.md says %q", at, cell, told[at])
		} else if limit, _ := strconv.ParseFloat(most, 64); err == nil && (ratio <= 0 || ratio > 3*limit) {
			t.Errorf("%q: it measured %v, README.md says %q", at, ratio, told[at])
		}
	}
}
