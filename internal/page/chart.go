package page

import (
	"slices"
	"strconv"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/page/markup"
	"redlockrun/internal/report"
)

func (h *document) chart() {
	h.Open("section", "aria-labelledby", "timeline")
	h.Element("h2", "Timeline of the last "+report.Elapsed(h.to.Sub(h.from)), "id", "timeline")
	h.legend()
	h.Open("div", "class", "chart", "role", "group", "aria-label",
		"A row for each job, with its runs from "+h.stamp(h.from)+" to "+h.stamp(h.to))
	h.axis()
	unfolded := h.attention
	for _, p := range h.parts {
		if !p.folded {
			unfolded = append(unfolded, p.rows...)
		}
	}
	h.list(unfolded)
	for _, p := range h.parts {
		if p.folded {
			h.fold(p, h.list)
		}
	}
	h.Close()
	h.Close()
	h.Line()
}

// fold shows a part when a reader opens it.
func (h *document) fold(p part, show func([]int)) {
	h.Open("details")
	h.Element("summary", p.title())
	show(p.rows)
	h.Close()
}

func (p part) title() string { return strconv.Itoa(len(p.rows)) + " " + p.text }

// legend says what each look means that there is.
func (h *document) legend() {
	var there [len(looks)]bool
	dark := false
	for i := range h.rows {
		for _, s := range h.rows[i].spans {
			there[s.look] = true
		}
		there[pausedLook] = there[pausedLook] || len(h.rows[i].pauses) > 0
		there[overdueLook] = there[overdueLook] || len(h.rows[i].overdue) > 0
		dark = dark || h.rows[i].dark
	}
	h.Open("ul", "class", "legend", "aria-label", "Legend")
	for l, is := range there {
		if is {
			h.mean(looks[l].marked, looks[l].letter, looks[l].meaning)
		}
	}
	if dark {
		h.mean("z", "", "no history kept")
	}
	if h.dense {
		h.Element("li", "This page has many runs: a bad one is taller than the others, "+
			"and only the newest bad ones have a letter and can be pointed at.")
	}
	h.Close()
}

func (h *document) mean(class, letter, meaning string) {
	h.Open("li")
	h.Element("i", "", "class", class)
	if letter != "" {
		h.Text(" ")
		h.Element("b", letter)
	}
	h.Text(" " + meaning)
	h.Close()
}

// axis names the time, and draws its lines behind all rows.
func (h *document) axis() {
	ticks := h.ticks()
	h.Open("div", "class", "axis", "aria-hidden", "true")
	for _, k := range ticks {
		if k.date != "" {
			h.Element("b", k.date, "style", at(k.left))
		}
		if k.text != "" {
			h.Element("span", k.text, "class", sideClass(k), "style", at(k.left))
		}
	}
	h.Element("b", "now, "+h.to.In(h.zone).Format("15:04"), "class", "now", "style", at(whole100))
	h.Close()
	h.Open("div", "class", "grid", "aria-hidden", "true")
	for _, k := range ticks {
		class := ""
		if k.date != "" && k.left > 0 {
			class = "day"
		}
		h.Element("i", "", "class", class, "style", at(k.left))
	}
	for _, s := range h.shifts() {
		h.Element("i", "", "class", "shift", "title", s.before+" became "+s.after, "style", at(h.at(s.at)))
	}
	h.Element("i", "", "class", "now", "style", at(whole100))
	h.Close()
	h.Line()
}

func sideClass(k tick) string {
	switch {
	case k.side < 0:
		return "end"
	case k.side > 0:
		return "begin"
	case k.minor:
		return "minor"
	}
	return ""
}

// at is a place's beginning as a style.
func at(left int) string { return "left:" + percent(left) }

func percent(hundredths int) string {
	text := strconv.Itoa(hundredths / 100)
	if rest := hundredths % 100; rest > 0 {
		text += "." + strconv.Itoa(rest/10)
		if rest%10 > 0 {
			text += strconv.Itoa(rest % 10)
		}
	}
	return text + "%"
}

func (h *document) list(rows []int) {
	h.Open("ul", "class", "rows")
	for _, i := range rows {
		h.row(i)
	}
	h.Close()
}

func (h *document) row(i int) {
	r := &h.rows[i]
	name := lock.Escaped(r.job.Name)
	attributes := []string{"id", "j" + strconv.Itoa(i), "data-hosts", h.hostNumbers(r)}
	if !h.dense || slices.ContainsFunc(r.spans, func(s span) bool { return s.listed }) {
		attributes = append(attributes, "style", markup.Property("name", name))
	}
	h.Open("li", attributes...)
	h.Open("p")
	h.Element("bdi", name, longTitle(name)...)
	h.Element("small", h.told(r))
	h.Close()
	h.Open("div")
	h.history(r)
	if h.dense {
		h.denseRow(r)
	} else {
		h.marks(r)
	}
	for _, s := range r.spans {
		if !h.dense || s.listed {
			h.run(s)
		}
	}
	h.Close()
	h.Close()
	h.Line()
}

// longTitle is a title for a name that the page may cut.
func longTitle(name string) []string {
	const uncut = 40
	if len(name) <= uncut {
		return nil
	}
	return []string{"title", name}
}

// history hatches the time before the oldest run that is kept.
func (h *document) history(r *row) {
	if !r.dark {
		return
	}
	const roomForText = 2500
	width, text := h.at(r.knownFrom), ""
	attributes := []string{"class", "z", "style", "width:" + percent(width)}
	if !h.dense {
		starts := "History starts at " + h.stamp(r.knownFrom)
		if width == whole100 {
			starts = "No runs recorded"
		}
		attributes = append(attributes, "title", starts)
		if width >= roomForText {
			text = starts
		}
	}
	h.Open("i", attributes...)
	if text != "" {
		h.Element("span", text)
	}
	h.Close()
}

// marks draws the pauses, and where the job became overdue.
func (h *document) marks(r *row) {
	for _, s := range r.pauses {
		h.Element("i", "", "class", classOf(s), "title", h.pauseTitle(s), "style", s.place.style())
	}
	for _, s := range r.overdue {
		title := "overdue since " + h.stamp(s.from) + ": a success was expected every " + report.Took(r.job.MaxAge)
		h.Element("i", "", "class", classOf(s), "title", title, "role", "img", "tabindex", "0", "style",
			s.place.style())
	}
}

func (p place) style() string {
	if p.width == 0 {
		return at(p.left)
	}
	return at(p.left) + ";width:" + percent(p.width)
}

// told describes a job beside its name: its state, and what ran.
func (h *document) told(r *row) string {
	j := r.job
	if h.dense && !report.Busy(j) && !report.Bad(j) {
		return countRuns(r) // the rest is in the table
	}
	text := h.stateText(j)
	if host := report.Subject(j).Host; host != "" {
		text += " on " + lock.Escaped(host)
	}
	if d := report.StateAge(j); d != "" && report.Busy(j) {
		text += " for " + d
	}
	if j.LastEnd.End != "" && !report.Busy(j) {
		text += ", last " + report.EndText(j.LastEnd, j.Now)
	}
	return text + ", " + countRuns(r)
}

// countRuns counts the runs of a row in the window.
func countRuns(r *row) string {
	all, wrong := r.runs()
	text := number(all, "run")
	if all == 0 {
		text = "no runs recorded in this time"
	}
	if wrong > 0 {
		text += ", " + strconv.Itoa(wrong) + " bad"
	}
	if r.undated > 0 {
		text += ", " + strconv.Itoa(r.undated) + " without a known time"
	}
	return text
}

// run draws one run, or one act. One that needs attention can be reached by keyboard.
func (h *document) run(s span) {
	attributes := append(make([]string, 0, 10), "class", classOf(s), "style", s.place.style(), "title", h.title(s))
	if looks[s.look].bad || s.look == actLook {
		attributes = append(attributes, "role", "img", "tabindex", "0")
	}
	h.Open("i", attributes...)
	const roomForHost = 700
	if s.place.width >= roomForHost {
		h.Text(lock.Escaped(s.entry.Host))
	}
	h.Close()
}

func classOf(s span) string {
	class := looks[s.look].class
	if s.lettered {
		class = looks[s.look].marked
	}
	if s.early {
		class += " e"
	}
	if s.to.IsZero() {
		class += " g"
	}
	return class
}

// title is all that is said of a run: how it ended, where, when it began, how long it took.
func (h *document) title(s span) string {
	e := s.entry
	if e.Act != "" {
		return h.actTitle(e)
	}
	text := looks[s.look].meaning
	if e.End != "" {
		text = report.EndOf(e).Text
	}
	text += ", "
	if e.Host != "" {
		text += lock.Escaped(e.Host) + ", "
	}
	text += h.stamp(s.from)
	if d, known := report.RunTime(e); known {
		text += ", " + report.Took(d)
	} else if s.to.IsZero() {
		text += ", for " + report.Elapsed(max(0, h.to.Sub(s.from)))
	} else if e.End == lock.EndVanished && !e.Ended.IsZero() {
		text += ", found " + h.stamp(e.Ended)
	}
	if d, known := report.WaitTime(e); known && d >= time.Second {
		text += ", waited " + report.Took(d)
	}
	if e.Attempts > 1 {
		text += ", " + strconv.Itoa(e.Attempts) + " attempts"
	}
	return text
}

func (h *document) actTitle(e lock.Entry) string {
	text := string(e.Act) + " by " + report.Actor(e) + ", " + h.stamp(report.Dated(e))
	if e.Reason != "" {
		text += ": " + lock.Escaped(e.Reason)
	}
	return text
}

func (h *document) pauseTitle(s span) string {
	text := "paused by " + report.Actor(s.entry) + ", " + h.stamp(s.from)
	if !s.to.IsZero() {
		text += " to " + h.stamp(s.to) + " at the latest"
	}
	if s.entry.Reason != "" {
		text += ": " + lock.Escaped(s.entry.Reason)
	}
	return text
}
