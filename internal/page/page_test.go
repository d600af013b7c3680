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
var voids = []string{"meta", "link", "br", "input"}

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
	case name == "script":
		text, rest, _ := strings.Cut(r.rest, "</script>")
		if text != script || strings.Contains(text, "<") {
			r.t.Errorf("a script that is not the page's own: %.80q", text)
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
		case "script":
			if len(e.attributes) > 0 {
				t.Errorf("the script has %v", e.attributes)
			}
		case "img", "iframe", "object", "form", "base":
			t.Errorf("<%s>", e.name)
		}
		if href, ok := e.attributes["href"]; ok && href != "data:," && !strings.HasPrefix(href, "#") {
			t.Errorf("it leads to %s", href)
		}
		style, is := e.attributes["style"]
		if is && e.name == "li" && e.attributes["id"] != "" && !nameStyle.MatchString(style) {
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
	if !slices.ContainsFunc(all, func(e element) bool { return strings.HasPrefix(e.text, "No jobs here yet") }) {
		t.Error("it says nothing")
	}
}

func TestQuietJobsAreFoldedWhereThereAreMany(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count  int
		folded bool
	}{{folding, false}, {folding + 1, true}} {
		var all []lock.Job
		for i := range c.count {
			j := lock.Job{Name: fmt.Sprint("quiet-", i), State: lock.StateIdle, Now: ledgers.Now,
				LastEnd: ledgers.Over('A', lock.EndOk, 0, time.Second, time.Hour)}
			j.Runs = []lock.Entry{j.LastEnd}
			all = append(all, j)
		}
		page := checkPage(t, HTML(all, viewOf(24*time.Hour)))
		folded := slices.ContainsFunc(page, func(e element) bool { return e.name == "details" })
		if folded != c.folded {
			t.Errorf("of %d jobs: folded is %v", c.count, folded)
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

// denseJobs are so many jobs whose fifty runs are all in the window.
func denseJobs(count int) []lock.Job {
	all := sample(count)
	for i := range all {
		for k := range all[i].Runs {
			e := &all[i].Runs[k]
			d := time.Duration(k)*25*time.Minute + time.Second
			e.Asked, e.At, e.Ended = ledgers.Before(d+2*time.Minute), ledgers.Before(d+2*time.Minute), ledgers.Before(d)
		}
	}
	return all
}

// bytesOfAThousandJobs is the most that a page of a thousand jobs has.
const bytesOfAThousandJobs = 1e6

func TestThePageOfAThousandJobsIsSmall(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*lock.Job){
		"as they are": func(*lock.Job) {},
		"each second run is bad": func(j *lock.Job) {
			for k := 0; k < len(j.Runs); k += 2 {
				j.Runs[k].End, j.Runs[k].Status = lock.EndFailed, 3
			}
		},
		"each needs attention": func(j *lock.Job) { j.LastEnd.End, j.LastEnd.Status = lock.EndFailed, 3 },
		"each is paused": func(j *lock.Job) {
			j.Pause = &lock.PauseMark{By: "a", Since: ledgers.Before(time.Hour)}
		},
	} {
		all := denseJobs(1000)
		for i := range all {
			change(&all[i])
		}
		page := HTML(all, viewOf(24*time.Hour))
		if len(page) > bytesOfAThousandJobs {
			t.Errorf("%s: %d bytes", what, len(page))
		}
		t.Log(what, len(page), "bytes")
		if n := strings.Count(string(page), ",0h") + strings.Count(string(page), ",4h"); n < 45_000 {
			t.Errorf("%s: %d bars are drawn", what, n)
		}
	}
}

func TestThePageHasOnlySomeOfTheOutput(t *testing.T) {
	t.Parallel()
	all, v := denseJobs(200), viewOf(24*time.Hour)
	v.Outputs = map[string][]lock.Output{}
	for i := range all {
		run := &all[i].Runs[0]
		run.End, run.Status = lock.EndFailed, 3
		v.Outputs[all[i].Name] = []lock.Output{{Run: run.Run, Total: 4096, Tail: bytes.Repeat([]byte("a"), 4096)}}
	}
	shown, told := 0, 0
	for _, e := range checkPage(t, HTML(all, v)) {
		if e.name == "pre" {
			shown += len(e.text)
		}
		if strings.HasPrefix(e.text, "Its output is too long for this page: redlockrun logs ") {
			told++
		}
	}
	if listed := shown/4096 + told; shown != mostPrinted || listed < 190 || listed > mostListed {
		t.Errorf("%d bytes are shown, and %d commands", shown, told)
	}
}

func TestADensePageShowsARunThatVanishedLongAgo(t *testing.T) {
	t.Parallel()
	all := denseJobs(200)
	for i := range all {
		for k := range all[i].Runs {
			all[i].Runs[k].End, all[i].Runs[k].Status = lock.EndFailed, 3
		}
	}
	titles := drawn(checkPage(t, HTML(all, viewOf(24*time.Hour))))
	if !slices.ContainsFunc(titles, func(s string) bool { return strings.HasPrefix(s, "vanished, web-9, Sun 07:30") }) {
		t.Errorf("%d runs are drawn each by itself, and not the vanished one", len(titles))
	}
}

func TestADensePageDrawsAllRuns(t *testing.T) {
	t.Parallel()
	if n := barsOf(checkPage(t, HTML(denseJobs(200), viewOf(24*time.Hour)))); n < 9_800 {
		t.Errorf("%d of 10000 runs are drawn", n)
	}
}

// barsOf counts what a dense page draws: the bars of its paths, and what is drawn by itself.
func barsOf(all []element) (bars int) {
	for _, e := range all {
		if e.name == "path" && e.attributes["class"] != "" {
			bars += strings.Count(e.attributes["d"], "h")
		}
	}
	return bars + len(drawn(all))
}

func TestADensePageDrawsEachRunInItsPlace(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		places []place
		want   string
	}{
		"apart":              {[]place{{100, 200}, {1000, 0}, {9990, 10}}, "m5,4h10m35,0h1m448,0h1"},
		"touching":           {[]place{{0, 100}, {100, 100}}, "m0,4h10"},
		"one in another":     {[]place{{0, 1000}, {100, 100}, {2000, 20}}, "m0,4h50m50,0h1"},
		"not in their order": {[]place{{2000, 20}, {0, 20}}, "m0,4h101"},
		"at the edge":        {[]place{{whole100, 0}}, "m499,4h1"},
	} {
		var b bars
		for _, p := range c.places {
			b.add(p)
		}
		if got := b.String(); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// section returns the names and texts of the headings, and the columns of tables, in their order.
func outline(all []element) (heads []string) {
	for _, e := range all {
		switch {
		case e.name == "h1", e.name == "h2", e.name == "h3", e.name == "summary":
			heads = append(heads, e.name+" "+e.text)
		case e.name == "table":
			heads = append(heads, "table "+e.attributes["class"])
		}
	}
	return heads
}

func TestThePageBeginsWithWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	all := sample(30)
	text := HTML(all, viewOf(24*time.Hour))
	page := checkPage(t, text)
	want := []string{
		"h1 30 jobs, , 2 running, 1 paused", // between the commas is a link
		"h2 Jobs", "h3 3 need attention", "table states",
		"h3 2 active: running, paused, with waiters, or not readable", "table states",
	}
	got := outline(page)
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Fatalf("%q", got)
	}
	timeline := slices.Index(got, "h2 Timeline of the last 24h")
	if bad := slices.Index(got, "table wrong"); bad < timeline || timeline < len(want) {
		t.Errorf("%q", got)
	}
	link := slices.IndexFunc(page, func(e element) bool { return e.attributes["href"] == "#attention" })
	if link < 0 || page[link].text != "3 need attention" {
		t.Error("no link leads to the jobs needing attention")
	}
	if first, second := bytes.Index(text, []byte(">vanished<")), bytes.Index(text, []byte(">silent<")); first < 0 ||
		second < first {
		t.Errorf("the worst job is not the first: %d, %d", first, second)
	}
}

func TestTheTrendTellsHowLongRunsTook(t *testing.T) {
	t.Parallel()
	j := lock.Job{Name: "a", State: lock.StateIdle, Now: ledgers.Now, Runs: []lock.Entry{
		ledgers.Over('A', lock.EndOk, 0, 4*time.Second, time.Minute),
		ledgers.Over('B', lock.EndVanished, -1, time.Hour, time.Hour), // nobody knows how long
		ledgers.Over('C', lock.EndOk, 0, 2*time.Second, 2*time.Hour),
		ledgers.Over('D', lock.EndFailed, 1, time.Second, 3*time.Hour),
	}}
	all := checkPage(t, HTML([]lock.Job{j}, viewOf(24*time.Hour)))
	i := slices.IndexFunc(all, func(e element) bool { return e.attributes["role"] == "img" && e.name == "svg" })
	if i < 0 || all[i].attributes["aria-label"] != "3 runs took 1s to 4s, the last 4s" ||
		all[i+2].attributes["d"] != "m0,15,3-5,3-10" {
		t.Errorf("%+v", all[max(0, i):][:3])
	}
	j.Runs = j.Runs[:1]
	for _, e := range checkPage(t, HTML([]lock.Job{j}, viewOf(24*time.Hour))) {
		if e.name == "svg" {
			t.Errorf("one run has a trend: %+v", e)
		}
	}
}

func TestARowNamesItsHostsForTheFilter(t *testing.T) {
	t.Parallel()
	jobs := []lock.Job{
		{Name: "a", State: lock.StateRunning, Holder: ledgers.Holder('B', "web-2"), At: ledgers.Before(time.Minute),
			Runs: []lock.Entry{ledgers.Over('A', lock.EndOk, 0, time.Second, time.Hour)}, Now: ledgers.Now}, // web-3
		{Name: "b", State: lock.StateIdle, Now: ledgers.Now},
		{Name: "c", State: lock.StateRunning, Holder: ledgers.Holder('B', "<web-1>"), Now: ledgers.Now},
	}
	var rows, options []string
	for _, e := range checkPage(t, HTML(jobs, viewOf(24*time.Hour))) {
		switch e.name {
		case "option":
			options = append(options, e.attributes["value"]+" "+e.text)
		case "li":
			if hosts, is := e.attributes["data-hosts"]; is {
				rows = append(rows, hosts)
			}
		}
	}
	if !slices.Equal(options, []string{" all", "0 <web-1>", "1 web-2", "2 web-3"}) ||
		!slices.Equal(rows, []string{",1,2,", ",0,", ","}) {
		t.Errorf("%q %q", options, rows)
	}
}

func TestEachRunThatHasPermitsIsDrawn(t *testing.T) {
	t.Parallel()
	holder := func(run byte, host string, number int, ago time.Duration, state lock.State) lock.PermitHolder {
		h := lock.PermitHolder{Holder: ledgers.Holder(run, host), Numbers: []int{number}, At: ledgers.Before(ago)}
		h.State, h.Permits = state, 3
		return h
	}
	j := lock.Job{Name: "a", State: lock.StateSilent, Now: ledgers.Now, Holders: []lock.PermitHolder{
		holder('A', "web-1", 1, time.Hour, lock.StateRunning), holder('B', "web-2", 2, time.Minute, lock.StateSilent)}}
	j.Holder, j.At = j.Holders[0].Holder, j.Holders[0].At
	all := checkPage(t, HTML([]lock.Job{j}, viewOf(24*time.Hour)))
	want := []string{"running, web-1, Sun 13:30:00, for 1h", "silent, web-2, Sun 14:29:00, for 1m"}
	if got := drawn(all); !slices.Equal(got, want) {
		t.Errorf("drawn: %q", got)
	}
}

func TestTheChartHasALineAtNow(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, e := range checkPage(t, HTML(sample(1), viewOf(24*time.Hour))) {
		if e.attributes["class"] == "now" {
			lines = append(lines, e.name+" "+e.text+" "+e.attributes["style"])
		}
	}
	if !slices.Equal(lines, []string{"b now, 14:30 left:100%", "i  left:100%"}) {
		t.Errorf("%q", lines)
	}
}
