// Package scripts tests what stands beside the program: the Makefile, the scripts that
// are no tests themselves, and what the documents say of the tree.
package scripts

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read is the text of a file, by its path from the top of the tree.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// output is what argv prints, run in dir.
func output(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr = dir, t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return string(out)
}

// targets are what can be made, by the Makefile's rules.
func targets(t *testing.T) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):[^=]`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		t.Fatal("the Makefile has no target")
	}
	return names
}

func TestMakeHelpTellsEachTargetInAGroup(t *testing.T) {
	var told []string
	group := ""
	for line := range strings.Lines(output(t, "..", "make", "-s", "help")) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			group = ""
		case !strings.HasPrefix(line, "  "):
			group = line
		case group == "":
			t.Errorf("%q is in no group", line)
		case len(words) < 2:
			t.Errorf("%q says nothing", line)
		default:
			told = append(told, words[0])
		}
		if len(line) > 100 {
			t.Errorf("%q does not fit into a terminal", line)
		}
	}
	if want := targets(t); !slices.Equal(told, want) {
		t.Errorf("make help tells of\n%q, there are\n%q", told, want)
	}
}

func TestTargetsAreMadeWhateverFilesThereAre(t *testing.T) {
	_, phony, found := strings.Cut(read(t, "Makefile"), "\n.PHONY: ")
	if want := targets(t); !found || !slices.Equal(strings.Fields(phony), want) {
		t.Errorf("phony: %q\ntargets: %q", strings.Fields(phony), want)
	}
}

func TestMakeAloneBuilds(t *testing.T) {
	if alone, build := output(t, "..", "make", "-n"), output(t, "..", "make", "-n", "build"); alone != build {
		t.Errorf("make: %q, make build: %q", alone, build)
	}
}
