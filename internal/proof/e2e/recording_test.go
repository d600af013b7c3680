//go:build linux

package e2e

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"redlockrun/internal/proof/ability"
)

// terminal returns the text of a recording, a line that was wrapped in one piece.
func terminal(svg string) string {
	var text strings.Builder
	for _, m := range regexp.MustCompile(`<text[^>]*>(.*)</text>`).FindAllStringSubmatch(svg, -1) {
		line := html.UnescapeString(m[1])
		text.WriteString(line)
		if len(line) != 100 {
			text.WriteString("\n")
		}
	}
	return text.String()
}

// The recording of the README shows what the program prints today. make recording writes it.
func TestTheRecordingIsOfThisProgram(t *testing.T) {
	ability.Slow(t)
	if !strings.Contains(page(t, "README.md"), "](docs/demo.svg)") {
		t.Error("README.md does not show docs/demo.svg")
	}
	shown := page(t, "docs/demo.svg")
	if strings.Contains(shown, "href") || !strings.Contains(shown, "prefers-color-scheme: dark") {
		t.Error("the picture loads something, or has one colour scheme")
	}
	s := newSite(t)
	again := filepath.Join(s.dir, "demo.svg")
	cmd := s.command(t.Context(), "go", "run", "./scripts/recording", "-program", filepath.Join(bin, "redlockrun"),
		"-out", again)
	cmd.Dir, cmd.Env = "../../..", os.Environ()
	if r := s.finish(cmd); r != (run{}) {
		t.Fatal(r)
	}
	drawn, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := terminal(string(drawn)), terminal(shown); masked(got) != masked(want) {
		t.Errorf("run make recording. The program prints\n%s\nthe recording shows\n%s", got, want)
	}
}
