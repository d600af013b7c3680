package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlockrun/internal/lock"
	"redlockrun/internal/report"
)

// A find is a run that needs attention.
type find struct {
	row int
	span
}

const mostWrong = 200 // are listed

// wrong lists the runs of the window that did not end well, the newest first.
func (h *document) wrong() {
	all := h.finds()
	if len(all) == 0 {
		return
	}
	shown := all[:min(len(all), mostWrong)]
	h.Open("section", "aria-labelledby", "bad")
	h.Element("h2", "What did not end well", "id", "bad")
	h.Open("details", "open", "")
	summary := number(len(all), "run")
	if len(shown) < len(all) {
		summary += fmt.Sprintf(", the last %d of them here", len(shown))
	}
	h.Element("summary", summary)
	h.heads("wrong", "Began", "Job", "Host", "Ran", "End", "Note")
	for _, f := range shown {
		h.find(f)
	}
	h.Close()
	h.Close()
	h.Close()
	h.Close()
	h.Line()
}

func (h *document) finds() (all []find) {
	for i := range h.rows {
		for _, s := range h.rows[i].spans {
			if looks[s.look].bad && s.entry.Act == "" {
				all = append(all, find{i, s})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b find) int { return cmp.Or(b.from.Compare(a.from), cmp.Compare(a.row, b.row)) })
	return all
}

func (h *document) find(f find) {
	e := f.entry
	h.Open("tr")
	h.Open("td")
	h.time(f.from, h.stamp(f.from))
	h.Close()
	h.Open("th", "scope", "row")
	h.link(f.row)
	h.Close()
	h.Element("td", lock.Escaped(e.Host))
	took := ""
	if d, known := report.RunTime(e); known {
		took = report.Took(d)
	}
	h.Element("td", took)
	h.Open("td")
	h.Element("i", "", "class", looks[f.look].marked)
	if e.End == "" {
		h.Text(" " + looks[f.look].meaning)
	} else {
		h.Text(" " + report.EndOf(e).Text)
	}
	h.Close()
	h.Element("td", report.Note(e))
	h.Close()
	h.Line()
	if o, ok := report.OutputOf(h.view.Outputs[h.rows[f.row].job.Name], e.Run); ok {
		h.output(o)
	}
}

// output is a folded row with the last lines that a run printed.
func (h *document) output(o lock.Output) {
	text, about := report.LastLines(o)
	h.Open("tr", "class", "printed")
	h.Open("td", "colspan", "6")
	h.Open("details")
	h.Element("summary", "What it printed: "+about)
	h.Open("pre")
	for i, line := range strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n") {
		if i > 0 {
			h.Line()
		}
		h.Text(line)
	}
	h.Close()
	h.Close()
	h.Close()
	h.Close()
	h.Line()
}

// heads begins a table, which its caller ends, with its body.
func (h *document) heads(class string, names ...string) {
	h.Open("table", "class", class)
	h.Open("thead")
	h.Open("tr")
	for _, name := range names {
		h.Element("th", name, "scope", "col")
	}
	h.Close()
	h.Close()
	h.Open("tbody")
	h.Line()
}

// table writes the table of the command status.
func (h *document) table() {
	h.Open("section", "aria-labelledby", "table")
	h.Element("h2", "How the jobs are", "id", "table")
	if len(h.shown) > 0 {
		h.states(h.shown)
	}
	h.fold(h.folded, "with nothing to be looked at", h.states)
	h.Close()
	h.Line()
}

func (h *document) states(rows []int) {
	h.heads("states", "Job", "State", "Host", "For", "Lease", "Wait", "Last", "Ended", "Average")
	for _, i := range rows {
		h.state(i)
	}
	h.Close()
	h.Close()
}

func (h *document) state(i int) {
	j := h.rows[i].job
	h.Open("tr")
	h.Open("th", "scope", "row")
	h.link(i)
	h.Close()
	h.Element("td", report.StateOf(j).Text, "class", stateClass(j))
	h.known(lock.Escaped(report.Subject(j).Host))
	h.known(report.StateAge(j))
	h.known(report.LeaseOf(j).Text)
	h.known(strconv.Itoa(j.Waiting))
	last := report.EndOf(j.LastEnd).Text
	if j.LastEnd.End != "" && j.LastEnd.End != lock.EndOk {
		h.Element("td", last, "class", "bad")
	} else {
		h.known(last)
	}
	h.Open("td")
	h.ago(j.LastEnd.Ended, j.Now)
	h.Close()
	h.known(report.Average(j))
	h.Close()
	h.Line()
}

// known writes a cell, which is empty if the text is.
func (h *document) known(text string) {
	if text == report.NotKnown.Text {
		text = ""
	}
	h.Element("td", text)
}

func stateClass(j lock.Job) string {
	switch {
	case j.Overdue():
		return "bad"
	case j.State == lock.StateVanished || j.State == lock.StateSilent || j.State == lock.StateStuck ||
		j.State == lock.StateForeign:
		return "bad"
	case report.Paused(j):
		return "paused"
	case report.Running(j):
		return "running"
	}
	return ""
}

// link names a job, and leads to its row.
func (h *document) link(i int) {
	h.Open("a", "href", "#j"+strconv.Itoa(i))
	h.Element("bdi", lock.Escaped(h.rows[i].job.Name))
	h.Close()
}
