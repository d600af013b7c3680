package page

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ledgers"
)

// An element is one of a page, as a strict reader finds it.
type element struct {
	name       string
	attributes map[string]string
	text       string // in it, without that of the elements in it
}

// voids are the elements that have no end.
var voids = []string{"meta", "link", "br"}

// A reader reads a page as strictly as it can: nothing is guessed, or mended.
type pageReader struct {
	t    *testing.T
	rest string
	open []int // indexes of elements
	all  []element
	ids  map[string]bool
}

// readPage is the elements of a page. A page that is not well-formed fails the test.
func readPage(t *testing.T, page []byte) []element {
	t.Helper()
	rest, ok := strings.CutPrefix(string(page), "<!DOCTYPE html>\n")
	if !ok {
		t.Fatalf("it begins with %.40q", page)
	}
	r := &pageReader{t: t, rest: rest, ids: map[string]bool{}}
	for r.rest != "" {
		r.next()
	}
	if len(r.open) > 0 {
		t.Fatalf("%s is not closed", r.all[r.open[len(r.open)-1]].name)
	}
	for _, e := range r.all {
		if target, ok := strings.CutPrefix(e.attributes["href"], "#"); ok && !r.ids[target] {
			t.Errorf("nothing is named %s", target)
		}
	}
	return r.all
}

func (r *pageReader) next() {
	r.t.Helper()
	text, rest, more := strings.Cut(r.rest, "<")
	if strings.TrimSpace(text) != "" {
		if len(r.open) == 0 {
			r.t.Fatalf("text outside of all elements: %.80q", text)
		}
		r.all[r.open[len(r.open)-1]].text += r.unescape(text)
	}
	if r.rest = rest; !more {
		return
	}
	tag, rest, ok := strings.Cut(r.rest, ">")
	for ok && strings.Count(tag, `"`)%2 == 1 { // a > in a value
		var further string
		if further, rest, ok = strings.Cut(rest, ">"); ok {
			tag += ">" + further
		}
	}
	if r.rest = rest; !ok {
		r.t.Fatalf("a tag has no end: %.80q", tag)
	}
	if name, closes := strings.CutPrefix(tag, "/"); closes {
		r.close(name)
		return
	}
	r.begin(tag)
}

func (r *pageReader) close(name string) {
	r.t.Helper()
	last := len(r.open) - 1
	if last < 0 || r.all[r.open[last]].name != name {
		r.t.Fatalf("</%s> closes nothing", name)
	}
	r.open = r.open[:last]
}

func (r *pageReader) begin(tag string) {
	r.t.Helper()
	name, rest, _ := strings.Cut(tag, " ")
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		r.t.Fatalf("no name of an element: %.80q", tag)
	}
	e := element{name: name, attributes: map[string]string{}}
	for rest != "" {
		rest = r.attribute(&e, rest)
	}
	if id, ok := e.attributes["id"]; ok {
		if r.ids[id] {
			r.t.Errorf("two are named %s", id)
		}
		r.ids[id] = true
	}
	r.all = append(r.all, e)
	switch {
	case name == "style":
		sheet, rest, _ := strings.Cut(r.rest, "</style>")
		if strings.Contains(sheet, "<") {
			r.t.Errorf("a < in the sheet")
		}
		r.rest = rest
	case !slices.Contains(voids, name):
		r.open = append(r.open, len(r.all)-1)
	}
}

func (r *pageReader) attribute(e *element, text string) (rest string) {
	r.t.Helper()
	end := strings.IndexAny(text, "= ")
	if end < 0 {
		end = len(text)
	}
	name, value := text[:end], ""
	rest = text[end:]
	switch {
	case strings.HasPrefix(rest, `="`):
		var ok bool
		if value, rest, ok = strings.Cut(rest[2:], `"`); !ok {
			r.t.Fatalf("a value has no end: %.80q", text)
		}
	case strings.HasPrefix(rest, "="):
		value, rest, _ = strings.Cut(rest[1:], " ")
		rest = " " + rest
		if value == "" || strings.ContainsAny(value, "\"'`=<>") {
			r.t.Fatalf("a value without quotes: %.80q", text)
		}
	}
	if _, twice := e.attributes[name]; twice || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
		r.t.Fatalf("attribute %q of <%s>", name, e.name)
	}
	e.attributes[name] = r.unescape(value)
	return strings.TrimPrefix(rest, " ")
}

// unescape is a text as it is read.
func (r *pageReader) unescape(text string) string {
	r.t.Helper()
	known := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&")
	bare := strings.NewReplacer("&lt;", "", "&gt;", "", "&quot;", "", "&#39;", "", "&amp;", "").Replace(text)
	if strings.ContainsAny(bare, "&<>") {
		r.t.Fatalf("not escaped: %.80q", text)
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 }) {
		r.t.Fatalf("a control character: %.80q", text)
	}
	return known.Replace(text)
}

// placeOf is where an element is drawn, in hundredths of a percent; ok is false of one that
// has no place.
func placeOf(t *testing.T, e element) (left, width int, ok bool) {
	t.Helper()
	style := e.attributes["style"]
	for part := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(part, ":")
		if name == "" || name == "--name" {
			return 0, 0, false
		}
		number, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		if err != nil {
			t.Fatalf("style %q", style)
		}
		switch name {
		case "left":
			left = int(number*100 + 0.5)
		case "width":
			width = int(number*100 + 0.5)
		default:
			t.Fatalf("style %q", style)
		}
	}
	return left, width, true
}

// nameStyle gives a row the name of its job, for what is told of its runs on a phone.
var nameStyle = regexp.MustCompile(`^--name:"([A-Za-z0-9 \-_.,:;%#]|\\[0-9a-f]+ )*"$`)

// checkPage fails the test if a page is not well-formed, asks for something, or draws
// something where it cannot be.
func checkPage(t *testing.T, page []byte) []element {
	t.Helper()
	all := readPage(t, page)
	for _, e := range all {
		switch e.name {
		case "script", "img", "iframe", "object", "form", "base":
			t.Errorf("<%s>", e.name)
		}
		if href, ok := e.attributes["href"]; ok && href != "data:," && !strings.HasPrefix(href, "#") {
			t.Errorf("it leads to %s", href)
		}
		if style := e.attributes["style"]; e.name == "li" && e.attributes["id"] != "" && !nameStyle.MatchString(style) {
			t.Errorf("the style %s is more than a string", style)
		}
		if left, width, ok := placeOf(t, e); ok && (left < 0 || width < 0 || left+width > whole100) {
			t.Errorf("<%s> at %d, %d wide", e.name, left, width)
		}
	}
	return all
}

// drawn are the titles of what is drawn of runs and acts.
func drawn(all []element) (titles []string) {
	for _, e := range all {
		if title := e.attributes["title"]; e.name == "i" && title != "" && e.attributes["class"] != "z" {
			titles = append(titles, title)
		}
	}
	return titles
}

func viewOf(since time.Duration) View {
	return View{Now: ledgers.Now, Since: since, Zone: ledgers.Zone, Place: "127.0.0.1:6379"}
}

func TestEachRunOfTheWindowIsDrawnWithItsTitle(t *testing.T) {
	t.Parallel()
	j := lock.Job{Name: "orders", State: lock.StateIdle, Now: ledgers.Now,
		Counts: map[lock.EndKind]int64{lock.EndOk: 1, lock.EndFailed: 1, lock.EndLost: 1}}
	j.Runs = []lock.Entry{
		ledgers.Over('A', lock.EndOk, 0, 125*time.Second, 4*time.Minute),
		ledgers.Over('B', lock.EndFailed, 3, time.Minute, 2*time.Hour),
		ledgers.Over('C', lock.EndLost, 76, 3*time.Hour, 23*time.Hour), // it began before the window
		ledgers.Over('D', lock.EndSignal, 137, time.Second, 25*time.Hour),
	}
	j.LastEnd = j.Runs[0]
	all := checkPage(t, HTML([]lock.Job{j}, viewOf(24*time.Hour)))
	want := []string{
		"lost, web-3, Sat 12:30:00, 3h, waited 1.5s", "failed 3, web-3, Sun 12:29:00, 1m, waited 1.5s",
		"ok, web-3, Sun 14:23:55, 2m05s, waited 1.5s",
	}
	if got := drawn(all); !slices.Equal(got, want) {
		t.Errorf("drawn: %q", got)
	}
	cut := slices.IndexFunc(all, func(e element) bool { return strings.HasPrefix(e.attributes["title"], "lost") })
	if left, width, _ := placeOf(t, all[cut]); left != 0 || width != 416 { // one hour of three
		t.Errorf("the run at the edge is at %d, %d wide", left, width)
	}
}

func TestNamesThatWouldLikeToBeMoreStayText(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "]]>", "a\u202eb",
		"&lt;b&gt;",
		strings.Repeat("x", 512),
	} {
		j := lock.Job{Name: name, State: lock.StateVanished, Now: ledgers.Now}
		j.Open = lock.Entry{Run: ledgers.Run('Z'), Host: name, User: name, At: ledgers.Before(time.Hour), Status: -1}
		j.Pause = &lock.PauseMark{By: name, Reason: name, Since: ledgers.Before(2 * time.Hour)}
		page := HTML([]lock.Job{j}, View{Now: ledgers.Now, Since: 24 * time.Hour, Zone: ledgers.Zone, Place: name,
			Missing: []string{name}})
		checkPage(t, page)
	}
}

func TestAPageWithoutAJobSaysSo(t *testing.T) {
	t.Parallel()
	all := checkPage(t, HTML(nil, viewOf(24*time.Hour)))
	if !slices.ContainsFunc(all, func(e element) bool { return strings.HasPrefix(e.text, "No job is known here") }) {
		t.Error("it says nothing")
	}
}

func TestQuietJobsAreFoldedWhereThereAreMany(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count int
		open  bool
	}{{folding, true}, {folding + 1, false}} {
		var all []lock.Job
		for i := range c.count {
			j := lock.Job{Name: fmt.Sprint("quiet-", i), State: lock.StateIdle, Now: ledgers.Now,
				LastEnd: ledgers.Over('A', lock.EndOk, 0, time.Second, time.Hour)}
			j.Runs = []lock.Entry{j.LastEnd}
			all = append(all, j)
		}
		for _, e := range checkPage(t, HTML(all, viewOf(24*time.Hour))) {
			if _, open := e.attributes["open"]; e.name == "details" && open != c.open {
				t.Errorf("of %d jobs: open is %v", c.count, open)
			}
		}
	}
}

// A ledger with any content makes a page that can be read.
func checkRandomPage(t *testing.T, seed uint64, names ...string) {
	t.Helper()
	l := ledgers.New(seed)
	all := l.Jobs(6)
	for i := range all {
		if i < len(names) {
			all[i].Name = names[i]
		}
	}
	since := ledgers.OneOf(l, time.Minute, 24*time.Hour, 7*24*time.Hour, longestPage)
	where := ledgers.OneOf(l, time.UTC, ledgers.Zone, load(t, "Europe/Berlin"), load(t, "Australia/Lord_Howe"))
	page := HTML(all, View{Now: ledgers.Now, Since: since, Zone: where, Place: l.Text(), Missing: []string{l.Text()}})
	checkPage(t, page)
	if !bytes.Contains(page, []byte("</html>")) || bytes.Contains(page, []byte("-0001")) {
		t.Errorf("%s", page)
	}
}

// longestPage is the longest window that the command report allows.
const longestPage = 87600 * time.Hour

func TestPagesOfRandomLedgers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		checkRandomPage(t, seed)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(uint64(1), "orders", "report")
	f.Fuzz(func(t *testing.T, seed uint64, one, other string) { checkRandomPage(t, seed, one, other) })
}

// A thousand jobs whose fifty runs are all in the window.
func TestThePageOfAThousandJobsIsSmall(t *testing.T) {
	t.Parallel()
	all := sample(1000)
	for i := range all {
		for k := range all[i].Runs {
			e := &all[i].Runs[k]
			d := time.Duration(k)*25*time.Minute + time.Second
			e.Asked, e.At, e.Ended = ledgers.Before(d+2*time.Minute), ledgers.Before(d+2*time.Minute), ledgers.Before(d)
		}
	}
	page := HTML(all, viewOf(24*time.Hour))
	if runs := len(drawn(readPage(t, page))); runs < 45_000 || len(page) > 5e6 {
		t.Errorf("%d runs in %d bytes", runs, len(page))
	}
	t.Log(len(page), "bytes")
}
