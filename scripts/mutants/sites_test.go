package main

import (
	"os"
	"slices"
	"testing"
)

func TestEachKindOfPlaceIsDrawn(t *testing.T) {
	t.Chdir("../..")
	all, err := sites()
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]int)
	for _, s := range all {
		text, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		if old := string(text[s.begin:s.end]); old == s.with {
			t.Errorf("%s:%d: %s changes nothing: %q", s.file, s.line, s.kind, old)
		}
		kinds[s.kind]++
	}
	t.Logf("%d places: %v", len(all), kinds)
	for _, kind := range []string{"negate", "drop", "swap", "off by one"} {
		if kinds[kind] == 0 {
			t.Errorf("no place for %q", kind)
		}
	}
	if some := kth(all, 40); len(some) != 40 || !slices.Contains(all, some[39][0]) {
		t.Errorf("%d are drawn", len(some))
	}
}
