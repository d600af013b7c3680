package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fault whose place has changed can no longer be put into the program: its row is stale.
func TestEveryFaultHasItsPlaceInTheSource(t *testing.T) {
	for _, f := range slices.Concat(faults(), pastFaults) {
		text, err := os.ReadFile(filepath.Join("../..", f.file))
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if n := strings.Count(string(text), f.old); n != 1 {
			t.Errorf("%s: %q is %d times in %s, want once", f.name, f.old, n, f.file)
		}
	}
}
