package console

import (
	"slices"
	"strings"
)

// A Table is rows of cells in aligned columns. It shows what it is given: whoever puts
// another's text into it has escaped that.
type Table struct {
	Columns      []Column
	Rows         [][]Cell // each with a cell for each column
	FixedColumns int      // the first so many columns never go
}

// A Column is what the cells below one another have in common.
type Column struct {
	Name       string // no line of names is shown if all are ""
	MinWidth   int    // how wide it is at least
	Shrinkable bool   // it is cut before it goes
	DropFirst  bool   // it goes before any other
}

// A Cell is a text of one line.
type Cell struct {
	Text  string
	Style Style
}

const (
	gap    = 2 // between two columns
	minCut = 8 // what is left at least of an elastic column
)

// Lines are the table's on a display: the columns that do not fit go, first the spare ones, then
// from the right. What cannot go is cut.
func (t Table) Lines(d Display) (lines []string) {
	widths := t.fit(d.Width)
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name != "" }) {
		names := make([]Cell, len(t.Columns))
		for i, c := range t.Columns {
			names[i] = Cell{c.Name, StyleBold}
		}
		lines = append(lines, d.line(names, widths))
	}
	for _, row := range t.Rows {
		lines = append(lines, d.line(row, widths))
	}
	return lines
}

// KeepWidths keeps the columns at least as wide as they are now, for rows to come.
func (t Table) KeepWidths() {
	for i := range t.Columns {
		t.Columns[i].MinWidth = t.width(i)
	}
}

// hidden is the width of a column that there is no room for.
const hidden = -gap

// fit are the widths of the columns that there is room for.
func (t Table) fit(room int) (widths []int) {
	total := -gap
	for i := range t.Columns {
		widths = append(widths, t.width(i))
		total += gap + widths[i]
	}
	for i := len(widths) - 1; i >= t.FixedColumns && room > 0 && total > room; i-- {
		if t.Columns[i].DropFirst {
			total -= gap + widths[i]
			widths[i] = hidden
		}
	}
	for room > 0 && total > room && len(widths) > max(1, t.FixedColumns) {
		last := len(widths) - 1
		if over := total - room; t.Columns[last].Shrinkable && widths[last]-over >= minCut {
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
	width := max(t.Columns[i].MinWidth, Width(t.Columns[i].Name))
	for _, row := range t.Rows {
		width = max(width, Width(row[i].Text))
	}
	return width
}

func (d Display) line(row []Cell, widths []int) string {
	var line strings.Builder
	blanks := 0
	for i, width := range widths {
		if width == hidden {
			continue
		}
		text := Cut(row[i].Text, width)
		if text != "" {
			line.WriteString(strings.Repeat(" ", blanks) + d.Paint(text, row[i].Style))
			blanks = 0
		}
		blanks += gap + width - Width(text)
	}
	return line.String()
}
