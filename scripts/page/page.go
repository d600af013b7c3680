// Package page is what commands write into pages: a part that stands between two lines.
package page

import (
	"fmt"
	"os"
	"strings"
)

// A Part of a page stands between two lines, each with its end, which stay.
type Part struct{ Begin, End string }

// In is the part as a page has it; an error if there is no place for it.
func (p Part) In(page string) (text string, err error) {
	_, text, _, err = p.cut(page)
	return text, err
}

// Replaced is a page with another text in that part.
func (p Part) Replaced(page, text string) (string, error) {
	before, _, after, err := p.cut(page)
	if err != nil {
		return "", err
	}
	return before + p.Begin + text + p.End + after, nil
}

// Write puts into a file what becomes of the part that it has.
func (p Part) Write(path string, of func(old string) string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	old, err := p.In(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	written, _ := p.Replaced(string(page), of(old)) // it has a place
	return os.WriteFile(path, []byte(written), 0o644)
}

func (p Part) cut(page string) (before, text, after string, err error) {
	before, rest, begun := strings.Cut(page, p.Begin)
	text, after, ended := strings.Cut(rest, p.End)
	if !begun || !ended {
		return "", "", "", fmt.Errorf("there is no place between %q and %q", p.Begin, p.End)
	}
	return before, text, after, nil
}
