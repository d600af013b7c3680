package console

import (
	"slices"
	"strings"
)

// A Table is rows of cells in aligned columns. The caller escapes texts from elsewhere.
type Table struct {
	Columns      []Column
	Rows         [][]Cell // each with a cell for each column
	FixedColumns int      // the first columns, which are never hidden
}

// A Column describes the cells below one another.
type Column struct {
	Name       string // without any names the table has no head
	MinWidth   int    // the least width
	Shrinkable bool   // it is cut before it is hidden
	DropFirst  bool   // it is hidden before any other
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

// Lines returns the lines of the table on a display. It hides the columns that do not fit, first
// the DropFirst ones, then from the right. It cuts what must not be hidden.
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

// KeepWidths keeps the columns at least as wide as now, for later rows.
func (t Table) KeepWidths() {
	for i := range t.Columns {
		t.Columns[i].MinWidth = t.width(i)
	}
}

// hidden is the width of a column without room.
const hidden = -gap

// fit returns the widths of the columns that fit.
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
