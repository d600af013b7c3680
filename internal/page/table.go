package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/report"
)

// A find is a run that needs attention.
type find struct {
	row int
	*span
}

// findBad collects the runs of the window that ended badly, those that ended last first. It marks those that are
// listed.
func (h *document) findBad() {
	for i := range h.rows {
		for k := range h.rows[i].spans {
			if s := &h.rows[i].spans[k]; looks[s.look].bad && s.entry.Act == "" {
				h.bad = append(h.bad, find{i, s})
			}
		}
	}
	slices.SortStableFunc(h.bad, func(a, b find) int { return h.end(b).Compare(h.end(a)) })
	for _, f := range h.bad[:min(len(h.bad), mostListed)] {
		f.listed = true
	}
}

// end is when a run ended, or now if it goes on.
func (h *document) end(f find) time.Time {
	if f.to.IsZero() {
		return h.to
	}
	return f.to
}

// badRuns lists the runs of the window that ended badly, the newest first.
func (h *document) badRuns() {
	if len(h.bad) == 0 {
		return
	}
	shown := slices.Clone(h.bad[:min(len(h.bad), mostListed)])
	slices.SortStableFunc(shown,
		func(a, b find) int { return cmp.Or(b.from.Compare(a.from), cmp.Compare(a.row, b.row)) })
	h.Open("section", "aria-labelledby", "bad")
	h.Element("h2", "Runs that ended badly, or need attention", "id", "bad")
	h.Open("details", "open", "")
	summary := number(len(h.bad), "run")
	if len(shown) < len(h.bad) {
		summary = fmt.Sprintf("the newest %d of %s", len(shown), summary)
	}
	h.Element("summary", summary)
	h.heads("wrong", "Began", "Job", "Host", "Duration", "End", "Note")
	for _, f := range shown {
		h.find(f)
	}
	h.Close()
	h.Close()
	h.Close()
	h.Close()
	h.Line()
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
		h.output(o, h.rows[f.row].job.Name)
	}
}

// output is a folded row with the last lines that a run printed.
func (h *document) output(o lock.Output, job string) {
	text, about := report.LastLines(o)
	h.Open("tr", "class", "printed")
	h.Open("td", "colspan", "6")
	if h.room -= len(text); h.room < 0 {
		h.Text("Its output is too long for this page: redlockrun logs " + lock.Escaped(job) + " --run " +
			lock.Escaped(o.Run))
		h.Close()
		h.Close()
		h.Line()
		return
	}
	h.Open("details")
	h.Element("summary", "Output: "+about)
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

// table writes the table of the command status, the worst first.
func (h *document) table() {
	h.Open("section", "aria-labelledby", "jobs")
	h.Element("h2", "Jobs", "id", "jobs")
	if len(h.attention) > 0 {
		h.Element("h3", h.needAttention(), "id", "attention")
		h.states(h.attention)
	}
	for _, p := range h.parts {
		if p.folded {
			h.fold(p, h.states)
		} else {
			h.Element("h3", p.title())
			h.states(p.rows)
		}
	}
	h.Close()
	h.Line()
}

func (h *document) states(rows []int) {
	h.heads("states", "Job", "State", "Host", "For", "Lease", "Waiting", "Last run", "Ended", "Average", "Trend")
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
	if report.Bad(j) && i < mostListed { // the worst stand first
		h.Element("small", report.Rules{}.Judge(j, h.zone).Message)
	}
	h.Close()
	if class := stateClass(j); class != "" {
		h.Element("td", h.stateText(j), "class", class)
	} else {
		h.Element("td", h.stateText(j))
	}
	h.known(lock.Escaped(report.Subject(j).Host))
	h.known(report.StateAge(j))
	h.known(report.LeaseOf(j).Text)
	waiting := ""
	if j.Waiting > 0 {
		waiting = strconv.Itoa(j.Waiting)
	}
	h.known(waiting)
	last := report.EndOf(j.LastEnd).Text
	if j.LastEnd.End != "" && j.LastEnd.End != lock.EndOk {
		h.Element("td", last, "class", "bad")
	} else {
		h.known(last)
	}
	h.ended(j)
	h.known(report.Average(j))
	h.trend(&h.rows[i])
	h.Close()
	h.Line()
}

func (h *document) stateText(j lock.Job) string {
	text := report.StateOf(j).Text
	if d, is := late(j); is {
		text += " by " + report.Elapsed(d)
	}
	return text
}

// ended tells when the last run ended. A dense page leaves out the very instant.
func (h *document) ended(j lock.Job) {
	h.Open("td")
	if d, ok := report.Since(j.LastEnd.Ended, j.Now); ok && h.dense {
		h.Text(report.Ago(d))
	} else if ok {
		h.ago(j.LastEnd.Ended, j.Now)
	}
	h.Close()
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
	name := lock.Escaped(h.rows[i].job.Name)
	h.Element("a", name, append([]string{"href", "#j" + strconv.Itoa(i)}, longTitle(name)...)...)
}
