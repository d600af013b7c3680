package console

import (
	"slices"
	"strings"
	"unicode"
)

// A Table is rows of cells in aligned columns. It shows what it is given: whoever puts
// another's text into it has escaped that.
type Table struct {
	Columns []Column
	Rows    [][]Cell // each with a cell for each column
	Keep    int      // the first so many columns never go
}

// A Column is what the cells below one another have in common.
type Column struct {
	Name    string // no line of names is shown if all are ""
	Least   int    // how wide it is at least
	Elastic bool   // it is cut before it goes
}

// A Cell is a text of one line.
type Cell struct {
	Text string
	Tone Tone
}

// A Display is what a table is shown on.
type Display struct {
	Width int  // in columns of the terminal; 0: there is no limit
	Color bool // and bold, and faint
}

// A Tone is how a text sounds, where there are colours.
type Tone int

// The tones.
const (
	Neutral Tone = iota
	Fine
	Odd
	Wrong
	Faint
	Strong
)

const (
	gap      = 2 // between two columns
	leastCut = 8 // what is left at least of an elastic column
)

// Lines are the table's on a display: the columns that do not fit go, from the right. What
// cannot go is cut.
func (t Table) Lines(d Display) (lines []string) {
	widths := t.fit(d.Width)
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name != "" }) {
		names := make([]Cell, len(t.Columns))
		for i, c := range t.Columns {
			names[i] = Cell{c.Name, Strong}
		}
		lines = append(lines, d.line(names, widths))
	}
	for _, row := range t.Rows {
		lines = append(lines, d.line(row, widths))
	}
	return lines
}

// Settle keeps the columns at least as wide as they are now, for rows to come.
func (t Table) Settle() {
	for i := range t.Columns {
		t.Columns[i].Least = t.width(i)
	}
}

// fit are the widths of the columns that there is room for.
func (t Table) fit(room int) (widths []int) {
	total := -gap
	for i := range t.Columns {
		widths = append(widths, t.width(i))
		total += gap + widths[i]
	}
	for room > 0 && total > room && len(widths) > max(1, t.Keep) {
		last := len(widths) - 1
		if over := total - room; t.Columns[last].Elastic && widths[last]-over >= leastCut {
			widths[last] -= over
			return widths
		}
		total -= gap + widths[last]
		widths = widths[:last]
	}
	if room > 0 && total > room {
		widths[0] = max(1, widths[0]-(total-room))
	}
	return widths
}

func (t Table) width(i int) int {
	width := max(t.Columns[i].Least, Width(t.Columns[i].Name))
	for _, row := range t.Rows {
		width = max(width, Width(row[i].Text))
	}
	return width
}

func (d Display) line(row []Cell, widths []int) string {
	var line strings.Builder
	blanks := 0
	for i, width := range widths {
		text := Cut(row[i].Text, width)
		if text != "" {
			line.WriteString(strings.Repeat(" ", blanks) + d.Paint(text, row[i].Tone))
			blanks = 0
		}
		blanks += gap + width - Width(text)
	}
	return line.String()
}

// Paint is a text in its tone.
func (d Display) Paint(text string, tone Tone) string {
	codes := [...]string{Fine: "32", Odd: "33", Wrong: "31", Faint: "2", Strong: "1"}
	if !d.Color || tone == Neutral {
		return text
	}
	return "\x1b[" + codes[tone] + "m" + text + "\x1b[0m"
}

// Cut is a text of at most so many columns of a terminal.
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	room := width - 1
	for i, r := range text {
		if room -= runeWidth(r); room < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// Fold is a text in parts of at most so many columns, broken at blanks; less than 1 is no
// limit. An empty text has no parts.
func Fold(text string, width int) (parts []string) {
	for width > 0 && Width(text) > width {
		end := fitting(text, width)
		if blank := strings.LastIndexByte(text[:end], ' '); blank > 0 {
			end = blank
		}
		parts = append(parts, text[:end])
		text = strings.TrimPrefix(text[end:], " ")
	}
	if text != "" {
		parts = append(parts, text)
	}
	return parts
}

// fitting is how many bytes of a text have room, at least those of one character.
func fitting(text string, room int) int {
	for i, r := range text {
		if room -= runeWidth(r); room < 0 && i > 0 {
			return i
		}
	}
	return len(text)
}

// Width is how many columns of a terminal a text takes.
func Width(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the characters that take two columns (Unicode's East Asian Width), in rough.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}
