// Package page writes the HTML page of `redlockrun report`: a timeline of the runs, and a table of
// the jobs. All of it goes through package markup, which escapes what it is given. The standard
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
	h := &document{Page: markup.New(len(jobs) * 1000), view: v,
		timeline: newTimeline(jobs, latest(jobs, v.Now), v.Since, v.Zone)}
	h.arrange()
	h.Open("html", "lang", "en")
	h.head()
	h.Open("body")
	if len(jobs) > 0 {
		h.Element("a", "To the table", "class", "skip", "href", "#table")
	}
	h.header()
	h.Open("main")
	if len(jobs) > 0 {
		h.overdue()
		h.chart()
		h.wrong()
		h.table()
	} else {
		h.Element("p", "No job is known here. A job is listed when it has run.", "class", "none")
	}
	h.Close()
	h.Line()
	return h.Bytes()
}

// An document is one that is being written.
type document struct {
	*markup.Page
	*timeline
	view View

	shown  []int // the rows that need attention, by their index
	folded []int // the rows of quiet jobs
}

// folding is from how many jobs on the quiet ones are folded.
const folding = 20

// arrange sorts the rows: first what has gone wrong, then what goes on, then what is quiet.
func (h *document) arrange() {
	for i := range h.rows {
		if h.rows[i].quiet() {
			h.folded = append(h.folded, i)
		} else {
			h.shown = append(h.shown, i)
		}
	}
	slices.SortStableFunc(h.shown, func(a, b int) int { return order(h.rows[a].job) - order(h.rows[b].job) })
}

func order(j lock.Job) int {
	switch {
	case report.Bad(j):
		return 0
	case report.Busy(j):
		return 1
	}
	return 2
}

func (h *document) head() {
	h.Open("head")
	h.Void("meta", "charset", "utf-8")
	h.Policy()
	h.Void("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
	h.Void("meta", "name", "color-scheme", "content", "light dark")
	h.Void("meta", "name", "robots", "content", "noindex")
	h.Void("meta", "name", "referrer", "content", "no-referrer")
	if h.view.Refresh > 0 {
		h.Refresh(h.view.Refresh)
	}
	h.Void("link", "rel", "icon", "href", markup.Nothing)
	h.Element("title", h.summary()+" - redlockrun")
	h.Style(sheet)
	h.Close()
	h.Line()
}

// summary is how many jobs there are, and how many of what kind.
func (h *document) summary() string {
	kinds := []struct {
		what string
		is   func(lock.Job) bool
	}{
		{"to be looked at", report.Bad},
		{"overdue", func(j lock.Job) bool { return j.Overdue() }},
		{"running", report.Running},
		{"paused", report.Paused},
	}
	text := number(len(h.rows), "job")
	for _, kind := range kinds {
		n := 0
		for i := range h.rows {
			if kind.is(h.rows[i].job) {
				n++
			}
		}
		if n > 0 {
			text += fmt.Sprintf(", %d %s", n, kind.what)
		}
	}
	return text
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
	h.Element("h1", h.summary())
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
	h.Close()
	h.Line()
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
