package scripts

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	aPath = regexp.MustCompile(`(?m)(?:^|\./|[^A-Za-z0-9_/.-])((?:cmd|internal|scripts|testdata|docs)/` +
		`[A-Za-z0-9_./*-]*[A-Za-z0-9*])`)
	aTest   = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z][A-Za-z0-9]+\b`)
	aTarget = regexp.MustCompile("`(?:sudo )?make ([a-z0-9-]+)")
	aLink   = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// named are what a pattern, or its group, finds in a text.
func named(pattern *regexp.Regexp, text string) (names []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		names = append(names, m[len(m)-1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// there reports whether a path from the top of the tree is one, or a pattern of some.
func there(path string) bool {
	found, err := filepath.Glob("../" + path)
	return err == nil && len(found) > 0
}

// What is moved or gets another name is so in the documents, too, and in the scripts: a
// script that asks for a test that is no more would pass.
func TestWhatDocumentsAndScriptsNameIsThere(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	texts := map[string]string{}
	for path, text := range sources(t, "..") {
		switch {
		case strings.HasSuffix(path, "_test.go"):
			tests.WriteString(text)
		case path == "scripts/imports.sh": // patterns of paths
		case strings.HasSuffix(path, ".md"), strings.HasSuffix(path, ".sh"):
			texts[path] = text
		}
	}
	for from, text := range texts {
		for _, path := range named(aPath, text) {
			if !there(path) {
				t.Errorf("%s names %s, which is not there", from, path)
			}
		}
		for _, link := range named(aLink, text) {
			if strings.HasSuffix(from, ".md") && !there(filepath.Join(filepath.Dir(from), link)) {
				t.Errorf("%s links to %s, which is not there", from, link)
			}
		}
		for _, test := range named(aTest, text) {
			if !strings.Contains(tests.String(), "func "+test+"(") {
				t.Errorf("%s names %s, and there is no such test", from, test)
			}
		}
	}
}

func TestContributingTellsOfEachTarget(t *testing.T) {
	t.Parallel()
	told := named(aTarget, read(t, "CONTRIBUTING.md"))
	want := slices.Sorted(slices.Values(targets(t)))
	if !slices.Equal(told, want) {
		t.Errorf("CONTRIBUTING.md tells of %q, there are %q", told, want)
	}
}

// What reads the changelog wants its form: a section for each version, and in it groups.
func TestTheChangelogIsKeptInItsForm(t *testing.T) {
	t.Parallel()
	text := read(t, "CHANGELOG.md")
	version := regexp.MustCompile(`^\[(Unreleased|\d+\.\d+\.\d+)\](?: - \d{4}-\d\d-\d\d)?$`)
	groups := []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
	versions := 0
	for line := range strings.Lines(text) {
		marks, title, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch m := version.FindStringSubmatch(title); {
		case marks == "##" && m == nil:
			t.Errorf("%q is no version", title)
		case marks == "##" && !strings.Contains(text, "\n["+m[1]+"]: "):
			t.Errorf("%s has no link", m[1])
		case marks == "##":
			versions++
		case marks == "###" && !slices.Contains(groups, title):
			t.Errorf("%q is none of %q", title, groups)
		}
	}
	if first := strings.Index(text, "\n## "); versions == 0 || !strings.HasPrefix(text[first:], "\n## [Unreleased]\n") {
		t.Error("it does not begin with what is not released yet")
	}
}
