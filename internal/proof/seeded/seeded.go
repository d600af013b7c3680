// Package seeded is what tests do with known faults: put one into a build of the program, and
// name the tests that must find it.
package seeded

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// An Edit replaces a text of a file by another.
type Edit struct {
	File string // from the top of the tree
	Old  string // once in File
	New  string
}

// Overlay writes into dir what `go build -overlay` needs for a build with the edits, each of
// another file, and returns its path. The tree, whose top is there, is left as it is.
func Overlay(dir, top string, edits ...Edit) (path string, err error) {
	replace := map[string]string{}
	for i, e := range edits {
		file, err := filepath.Abs(filepath.Join(top, e.File))
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(text), e.Old); n != 1 {
			return "", fmt.Errorf("%q is %d times in %s", e.Old, n, e.File)
		}
		replace[file] = filepath.Join(dir, fmt.Sprintf("overlay-%d%s", i, filepath.Ext(file)))
		if err := os.WriteFile(replace[file], []byte(strings.Replace(string(text), e.Old, e.New, 1)),
			0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// Tests is a pattern for `go test -run` that fits the whole of each part of a test's name:
// TestA|TestB, or TestScripts/name.
func Tests(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		parts[i] = "^(" + part + ")$"
	}
	return strings.Join(parts, "/")
}
