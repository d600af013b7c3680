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

// The README's table is what scripts/compare.sh sees, word for word; but the cost, which is a
// range there, and is only held to be one of that order here.
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
	const cost = 2 // head, line, cost
	got, want := strings.Split(strings.TrimSpace(r.stdout), "\n"),
		strings.Split(strings.TrimSpace(block(t, "compare")), "\n")
	if len(got) != len(want) {
		t.Fatalf("it saw\n%s", r.stdout)
	}
	for i := range want {
		if i != cost && got[i] != want[i] {
			t.Errorf("it saw\n%s\nand README.md says\n%s", got[i], want[i])
		}
	}
	most := regexp.MustCompile(`to (\d+)`).FindStringSubmatch(want[cost])
	limit, err := strconv.ParseFloat(most[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range strings.Split(strings.Trim(got[cost], "| "), " | ")[1:] {
		if ratio, err := strconv.ParseFloat(cell, 64); err != nil || ratio <= 0 || ratio > 3*limit {
			t.Errorf("the cost is %q (%v), README.md: %s", cell, err, want[cost])
		}
	}
}
