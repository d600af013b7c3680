// Package page writes the HTML page of `redlockrun report`: a table of the jobs, a timeline of the
// runs, and a list of the bad ones. All of it goes through package markup, which escapes what it is given. The standard
// html/template would do so too, but it calls methods by name: the linker then keeps every
// exported method, and the program grows from 11.4 to 20 MB.
package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/page/markup"
	"redlockrun/internal/report"
)

// A View says what of jobs a page shows, and how.
type View struct {
	Now     time.Time // for a page without a job: else the store's time counts
	Since   time.Duration
	Zone    *time.Location
	Place   string                   // where the jobs are
	Missing []string                 // what could not be read, or who did not answer
	Outputs map[string][]lock.Output // what runs printed, by the names of the jobs
	Refresh int                      // after how many seconds a browser reads the page again; 0: never
}

// HTML is a page that shows who ran when, and how jobs are. It needs nothing but itself.
func HTML(jobs []lock.Job, v View) []byte {
	jobs = slices.DeleteFunc(report.JobChoice{}.Of(jobs), func(j lock.Job) bool { return j.Name == "" })
	h := &document{Page: markup.New(len(jobs) * 1000), view: v, room: mostPrinted,
		timeline: newTimeline(jobs, latest(jobs, v.Now), v.Since, v.Zone)}
	h.arrange()
	h.findBad()
	h.Open("html", "lang", "en")
	h.head()
	h.Open("body")
	if len(jobs) > 0 {
		h.Element("a", "Skip to the jobs", "class", "skip", "href", "#jobs")
	}
	h.header()
	h.Open("main")
	if len(jobs) > 0 {
		h.table()
		h.chart()
		h.badRuns()
	} else {
		h.Element("p", "No jobs here yet. A job is listed when it has run.", "class", "none")
	}
	h.Close()
	h.Line()
	h.Script(script)
	return h.Bytes()
}

// A document is a page that is being written.
type document struct {
	*markup.Page
	*timeline
	view View

	attention []int    // the rows of jobs needing attention, by their index, the worst first
	parts     []part   // the other jobs
	bad       []find   // the runs of the window that ended badly, those that ended last first
	hosts     []string // of all jobs, sorted
	dense     bool     // there are too many runs to draw each by itself
	room      int      // how many bytes of output may still be shown
}

// A part is a group of jobs that need no attention.
type part struct {
	rows   []int
	text   string // describes them, behind their number
	folded bool
}

// folding is from how many jobs on the quiet ones are folded.
const folding = 20

// arrange sorts the rows into groups. Each keeps the order of the jobs, the worst first.
func (h *document) arrange() {
	drawn := 0
	var active, recovered, quiet []int
	for i := range h.rows {
		r := &h.rows[i]
		drawn += len(r.spans) + len(r.pauses) + len(r.overdue)
		switch {
		case report.Bad(r.job):
			h.attention = append(h.attention, i)
		case !r.calm():
			active = append(active, i)
		case r.quiet():
			quiet = append(quiet, i)
		default:
			recovered = append(recovered, i)
		}
		h.hosts = append(h.hosts, r.hosts()...)
	}
	h.parts = []part{
		{active, "active: running, paused, with waiters, or not readable", false},
		{recovered, "idle, with a bad run or a pause in this time", len(recovered) > folding},
		{quiet, "idle, without a bad run in this time", len(h.rows) > folding},
	}
	h.parts = slices.DeleteFunc(h.parts, func(p part) bool { return len(p.rows) == 0 })
	h.dense = drawn > mostDrawn
	slices.Sort(h.hosts)
	h.hosts = slices.Compact(h.hosts)
}

func (h *document) head() {
	h.Open("head")
	h.Void("meta", "charset", "utf-8")
	h.Policy(script)
	h.Void("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
	h.Void("meta", "name", "color-scheme", "content", "light dark")
	h.Void("meta", "name", "robots", "content", "noindex")
	h.Void("meta", "name", "referrer", "content", "no-referrer")
	if h.view.Refresh > 0 {
		h.Refresh(h.view.Refresh)
	}
	h.Void("link", "rel", "icon", "href", markup.Nothing)
	h.Element("title", strings.Join(h.summary(), ", ")+" - redlockrun")
	h.Style(sheet)
	h.Close()
	h.Line()
}

// summary counts the jobs: first all, then those needing attention, then some more kinds.
func (h *document) summary() []string {
	texts := []string{number(len(h.rows), "job"), h.needAttention()}
	if len(h.rows) == 0 {
		return texts[:1]
	}
	for _, kind := range []struct {
		what string
		is   func(lock.Job) bool
	}{
		{"overdue", func(j lock.Job) bool { return j.Overdue() }},
		{"running", report.Running},
		{"paused", report.Paused},
	} {
		n := 0
		for i := range h.rows {
			if kind.is(h.rows[i].job) {
				n++
			}
		}
		if n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, kind.what))
		}
	}
	return texts
}

// needAttention counts the jobs needing attention.
func (h *document) needAttention() string {
	switch n := len(h.attention); n {
	case 0:
		return "none needs attention"
	case 1:
		return "1 needs attention"
	default:
		return strconv.Itoa(n) + " need attention"
	}
}

// number is 1 job, 2 jobs.
func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func (h *document) header() {
	h.Open("header")
	h.heading()
	h.Open("p")
	h.Text("Read ")
	h.time(h.to, h.to.In(h.zone).Format("Mon 2 Jan 2006, 15:04:05 ")+lock.ZoneName(h.to.In(h.zone)))
	h.Text(" from ")
	h.Element("bdi", lock.Escaped(h.view.Place))
	h.Text(". Times are those of " + h.zoneText() + ".")
	h.Close()
	for _, s := range h.shifts() {
		h.Element("p", "The clocks changed on "+s.at.Format("Mon 2 Jan")+": "+s.before+" became "+s.after+".",
			"class", "note")
	}
	for _, what := range h.view.Missing {
		h.Open("p", "class", "warn")
		h.Element("b", "Incomplete: ")
		h.Text(lock.Escaped(what))
		h.Close()
	}
	if len(h.rows) > 0 {
		h.jumps()
		h.filter()
	}
	h.Close()
	h.Line()
}

// heading is the summary. Its second part leads to the jobs needing attention.
func (h *document) heading() {
	h.Open("h1")
	for i, text := range h.summary() {
		if i > 0 {
			h.Text(", ")
		}
		if i == 1 && len(h.attention) > 0 {
			h.Element("a", text, "href", "#attention", "class", "bad")
		} else {
			h.Text(text)
		}
	}
	h.Close()
}

// jumps lists the parts of the page.
func (h *document) jumps() {
	h.Open("nav", "aria-label", "On this page")
	h.Open("ul")
	jump := func(to, text string) {
		h.Open("li")
		h.Element("a", text, "href", "#"+to)
		h.Close()
	}
	jump("jobs", "Jobs")
	jump("timeline", "Timeline")
	if len(h.bad) > 0 {
		jump("bad", number(len(h.bad), "bad run"))
	}
	h.Close()
	h.Close()
}

// zoneText names the zone, and how far it is from UTC.
func (h *document) zoneText() string {
	at := h.to.In(h.zone)
	text := lock.ZoneName(at)
	if name := h.zone.String(); name != "Local" && name != "" && name != text {
		text = name + ", " + text
	}
	if offset := "UTC" + at.Format("-07:00"); !strings.HasPrefix(offset, text) && text != "UTC" {
		text += " (" + offset + ")"
	}
	return text
}

// time is an instant in UTC for programs, and a text for people.
func (h *document) time(t time.Time, text string, attributes ...string) {
	stamp := lock.Instant{Time: t}.String()
	h.Element("time", text, append([]string{"datetime", stamp}, attributes...)...)
}

// ago is how long something is over, with the instant behind it.
func (h *document) ago(t, now time.Time) {
	if d, ok := report.Since(t, now); ok {
		h.time(t, report.Ago(d), "title", report.Zoned(t, h.zone))
	}
}

// stamp writes an instant in short, but without doubt which one it is.
func (t *timeline) stamp(at time.Time) string {
	local := at.In(t.zone)
	form := "Mon 15:04:05"
	if d := t.to.Sub(at); d > 6*report.Day || d < -6*report.Day {
		form = time.DateTime
	}
	if text := local.Format(form); !twice(local) {
		return text
	} else {
		return text + " " + lock.ZoneName(local)
	}
}
