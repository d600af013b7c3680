package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// Complete returns the entries of a job as a reader should see them. It adds a vanished run that
// the ledger does not have yet.
func Complete(j lock.Job, entries []lock.Entry) []lock.Entry {
	isOpen := func(e lock.Entry) bool { return e.Run == j.Open.Run }
	if j.State != lock.StateVanished || slices.ContainsFunc(entries, isOpen) {
		return entries
	}
	gone := j.Open
	gone.End, gone.Status = lock.EndVanished, -1
	return slices.Concat([]lock.Entry{gone}, entries)
}

// History is a line for each entry, in their order, with the times of a zone. A bar is as
// long as the run was, beside the longest of longest. It goes first where room is short.
func History(entries []lock.Entry, longest time.Duration, zone *time.Location) console.Table {
	t := console.Table{FixedColumns: 2, Columns: []console.Column{
		{Name: "BEGAN"}, {Name: "HOST"}, {Name: "WAITED"}, {Name: "RAN"}, {Name: "END"}, {DropFirst: true},
		{Name: "NOTE", Shrinkable: true},
	}}
	for _, e := range entries {
		t.Rows = append(t.Rows, entryRow(e, longest, zone))
	}
	return t
}

// Longest is the length of the longest run.
func Longest(entries []lock.Entry) (longest time.Duration) {
	for _, e := range entries {
		if d, ok := RunTime(e); ok {
			longest = max(longest, d)
		}
	}
	return longest
}

func entryRow(e lock.Entry, longest time.Duration, zone *time.Location) []console.Cell {
	row := []console.Cell{NotKnown, cell(lock.Escaped(e.Host), console.StylePlain), NotKnown, NotKnown, EndOf(e), {},
		{Text: Note(e)}}
	if e.Act != "" {
		row[4] = cell(string(e.Act), console.StyleWarning)
		e.At = Dated(e)
	}
	if !e.At.IsZero() {
		row[0] = console.Cell{Text: clock(e.At, zone)}
	}
	if d, ok := WaitTime(e); ok && e.Act == "" {
		row[2] = console.Cell{Text: Took(d)}
	}
	if d, ok := RunTime(e); ok {
		row[3] = console.Cell{Text: Took(d)}
		row[5] = console.Cell{Text: bar(d, longest), Style: row[4].Style}
	}
	return row
}

// Note returns what else a reader should know about an entry.
func Note(e lock.Entry) string {
	var parts []string
	if e.Act != "" {
		parts = append(parts, "by "+Actor(e))
	}
	if e.Reason != "" {
		parts = append(parts, lock.Escaped(e.Reason))
	}
	if e.Slot != "" {
		parts = append(parts, lock.Escaped(e.Slot))
	}
	if e.Attempts > 1 {
		parts = append(parts, fmt.Sprintf("%d attempts", e.Attempts))
	}
	if e.Stood > 0 {
		parts = append(parts, "stood still for "+Took(e.Stood))
	}
	return strings.Join(parts, ", ")
}

// Actor names the operator of an act.
func Actor(e lock.Entry) string { return lock.Escaped(strings.Trim(e.User+"@"+e.Host, "@")) }

// Mark is the same for two entries that say the same: a run and how it ended, or an act.
func Mark(e lock.Entry) string {
	if e.Act != "" {
		return fmt.Sprint(e)
	}
	return e.Run + " " + string(e.End)
}

// Memory says where the memory of a job begins, from all of its entries, newest first.
func Memory(j lock.Job, entries []lock.Entry, zone *time.Location) string {
	for _, e := range slices.Backward(entries) {
		first := e.At
		if first.IsZero() {
			first = e.Ended
		}
		if d, ok := Since(first, j.Now); ok {
			return "history starts " + Zoned(first, zone) + ", " + Ago(d)
		}
	}
	if unseen(j) && len(entries) == 0 {
		return neverSeen
	}
	return "no runs recorded"
}
