package scripts

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The documents that name places in the tree.
var documents = []string{"CONTRIBUTING.md", "docs/architecture.md"}

var (
	aPath   = regexp.MustCompile("`((?:cmd|internal|scripts|testdata|docs|\\.ci|\\.github)/[^` ]*|[A-Z]+\\.md|Makefile)`")
	aTest   = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z][A-Za-z0-9]+\b`)
	aTarget = regexp.MustCompile("`(?:sudo )?make ([a-z0-9-]+)")
	aLink   = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// named are what a pattern's group finds in a text.
func named(pattern *regexp.Regexp, text string) (names []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		names = append(names, m[len(m)-1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestWhatTheDocumentsNameIsThere(t *testing.T) {
	var tests strings.Builder
	for path, text := range sources(t, "..") {
		if strings.HasSuffix(path, "_test.go") {
			tests.WriteString(text)
		}
	}
	for _, document := range documents {
		text := read(t, document)
		for _, path := range named(aPath, text) {
			if found, err := filepath.Glob("../" + path); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", document, path)
			}
		}
		for _, link := range named(aLink, text) {
			if found, err := filepath.Glob(filepath.Join("..", filepath.Dir(document), link)); err != nil || len(found) == 0 {
				t.Errorf("%s links to %s, which is not there", document, link)
			}
		}
		for _, test := range named(aTest, text) {
			if !strings.Contains(tests.String(), "func "+test+"(") {
				t.Errorf("%s names %s, and there is no such test", document, test)
			}
		}
	}
}

func TestContributingTellsOfEachTarget(t *testing.T) {
	told := named(aTarget, read(t, "CONTRIBUTING.md"))
	want := slices.Sorted(slices.Values(targets(t)))
	if !slices.Equal(told, want) {
		t.Errorf("CONTRIBUTING.md tells of %q, there are %q", told, want)
	}
}
