// Messages lists each text that a user of the program can read, for review: where it stands, and
// the scripts and tests that show it, or that nothing does. It finds the texts in the sources.
//
//	go run ./scripts/messages    from the top of the tree
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := list(); err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(71)
	}
}

func list() error {
	dirs, err := programDirs(".")
	if err != nil {
		return err
	}
	all, err := find(".", dirs)
	if err != nil {
		return err
	}
	places, err := readPlaces(".")
	if err != nil {
		return err
	}
	unseen := 0
	for _, m := range all {
		by := shownBy(m.text, places)
		if len(by) == 0 {
			unseen++
			by = []string{"NOTHING"}
		}
		fmt.Printf("%s:%d: %q\n    shown by %s\n", m.file, m.line, m.text, strings.Join(by, ", "))
	}
	fmt.Printf("%d messages; no script and no test shows %d of them\n", len(all), unseen)
	return nil
}

// programDirs returns the directories of the packages that the program consists of.
func programDirs(top string) (dirs []string, err error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}",
		"./cmd/redlockrun")
	cmd.Dir = top
	out, err := cmd.Output()
	for path := range strings.FieldsSeq(string(out)) {
		dirs = append(dirs, strings.TrimPrefix(path, "redlockrun/"))
	}
	return dirs, err
}

// A place is a script or a test, with its text as a user would see it.
type place struct{ name, text string }

func readPlaces(top string) (places []place, err error) {
	for _, pattern := range []string{"testdata/script/*.txtar", "cmd/*/*_test.go", "internal/*/*_test.go",
		"internal/*/*/*_test.go"} {
		found, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			places = append(places, place{filepath.Base(path), plain(string(text))})
		}
	}
	return places, nil
}

var escaped = regexp.MustCompile(`\\([^a-zA-Z0-9])`)

// plain removes what quoting and patterns add to a text.
func plain(text string) string {
	text = strings.ReplaceAll(escaped.ReplaceAllString(text, "$1"), "''", "'")
	return strings.Join(strings.Fields(text), " ")
}

var verb = regexp.MustCompile(`%[-+#]?[a-zA-Z]`)

// mostShown is how many places are named for a message.
const mostShown = 3

// shownBy names the first places that have the longest part of a message, or a half of it.
func shownBy(text string, places []place) (names []string) {
	part := ""
	for _, p := range verb.Split(text, -1) {
		if p = plain(p); len(p) > len(part) {
			part = p
		}
	}
	half := len(part) / 2
	for _, p := range places {
		shown := strings.Contains(p.text, part) || len(part) > 40 &&
			(strings.Contains(p.text, part[:half]) || strings.Contains(p.text, part[half:]))
		if shown && len(names) < mostShown {
			names = append(names, p.name)
		}
	}
	return names
}
