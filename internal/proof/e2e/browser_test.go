//go:build linux && e2e

package e2e

import (
	"context"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A browser is a real Chromium without a window, all of whose requests come to the test.
type browser struct {
	t     *testing.T
	page  []byte
	proxy *httptest.Server

	mu    sync.Mutex
	asked []string
}

// address is where the page is; nobody resolves the name.
const address = "http://jobs.example/jobs.html"

// browse opens a page in browsers until the test ends.
func browse(t *testing.T, page []byte) *browser {
	b := &browser{t: t, page: page}
	b.proxy = httptest.NewServer(http.HandlerFunc(b.answer))
	t.Cleanup(b.proxy.Close)
	return b
}

// answer notes who is asked for what, and has the page alone.
func (b *browser) answer(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, r.Method+" "+r.RequestURI)
	if r.RequestURI != address {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write(b.page)
}

// open opens the page with further flags, and is what the browser prints.
func (b *browser) open(flags ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Minute)
	defer cancel()
	argv := append([]string{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
		"--password-store=basic",
		"--proxy-server=" + strings.TrimPrefix(b.proxy.URL, "http://"), "--proxy-bypass-list=<-loopback>",
		"--user-data-dir=" + b.t.TempDir(),
	}, flags...)
	if os.Getuid() == 0 {
		argv = append(argv, "--no-sandbox")
	}
	cmd := exec.CommandContext(ctx, "chromium", append(argv, address)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("chromium %q: %v\n%s", flags, err, said.String())
	}
	return string(out)
}

// itsMakers are requests that the browser makes without any page.
var itsMakers = regexp.MustCompile(`^[A-Z]+ (http://)?[a-z0-9-]+\.(google|googleapis|gvt1)\.com[:/]`)

// elsewhere is what was asked for beside the page, but for what a browser asks its maker.
func (b *browser) elsewhere() (asked []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.asked, "GET "+address) {
		b.t.Errorf("the page was not asked for: %q", b.asked)
	}
	for _, request := range b.asked {
		own := itsMakers.MatchString(request)
		if request != "GET "+address && !own {
			asked = append(asked, request)
		}
	}
	return asked
}

// shot is a screenshot, whose file is kept where go test -artifacts says.
func (b *browser) shot(name string, width, height int, flags ...string) string {
	b.t.Helper()
	path := filepath.Join(b.t.ArtifactDir(), name+".png")
	b.open(append([]string{"--screenshot=" + path, fmt.Sprintf("--window-size=%d,%d", width, height)}, flags...)...)
	return path
}

// ledger fills in runs of a job: so many, one each period, of which some did not end well.
func (s *site) ledger(name string, count int, period time.Duration) {
	s.t.Helper()
	keys := "redlockrun:{" + name + "}:"
	runs, now := []any{"RPUSH", keys + "runs"}, time.Now()
	for i := range count {
		how, status := "ok", 0
		if i%17 == 5 {
			how, status = "failed", 3
		}
		at := now.Add(-period * time.Duration(i+1)).UnixMilli()
		run := fmt.Sprintf("01BROWSERTEST%013d", i)
		runs = append(runs, fmt.Sprintf("%s web-%d alice 4121 php - 1 7 100 %d %d %s %d", run, i%5, at,
			period.Milliseconds()/2, how, status))
	}
	for _, words := range [][]any{
		runs, {"HSET", keys + "job", "last", runs[2], "good", runs[2], "count:ok", strconv.Itoa(1000 * count)},
		{"ZADD", "redlockrun:jobs", strconv.FormatInt(now.UnixMilli(), 10), name},
	} {
		if _, err := s.server.Do(words...); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) report(flags ...string) []byte {
	s.t.Helper()
	r := s.run(append([]string{"redlockrun", "report"}, flags...)...)
	if r.status != 0 || r.stderr != "" {
		s.t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	return []byte(r.stdout)
}

// titles are those of all runs on a page, sorted.
func titles(page string) (all []string) {
	for _, part := range strings.Split(page, "<i ")[1:] {
		tag, _, _ := strings.Cut(part, "</i>")
		if _, title, ok := strings.Cut(tag, ` title="`); ok {
			title, _, _ = strings.Cut(title, `"`)
			all = append(all, html.UnescapeString(title))
		}
	}
	slices.Sort(all)
	return all
}

func TestAPageInABrowser(t *testing.T) {
	s := newSite(t)
	for i, name := range []string{"cancel-orders", "invoices", "search-index", "newsletter", "<b>\"bold\"</b> & co"} {
		s.ledger(name, 30, []time.Duration{10, 25, 60, 90, 200}[i]*time.Minute)
	}
	s.succeed("nightly-report")
	release := s.hold("cancel-orders")
	defer release()
	if r := s.run("redlockrun", "pause", "invoices", "--why", "deploy"); r.status != 0 {
		t.Fatal(r)
	}
	page := s.report()
	b := browse(t, page)

	dom := b.open("--dump-dom")
	inDOM, written := titles(dom), titles(string(page))
	if !slices.Equal(inDOM, written) || len(written) < 60 {
		t.Errorf("%d runs are found by their titles, %d are written", len(inDOM), len(written))
	}
	if !strings.Contains(dom, "&lt;b&gt;") || strings.Contains(dom, "<b>\"bold\"") {
		t.Error("a name is no text")
	}
	if strings.Count(dom, "<script") != 1 || !strings.Contains(dom, `<script>"use strict";`) {
		t.Error("there is another script than the page's own")
	}
	light, dark := color.RGBAModel.Convert(color.White), color.RGBA{0x14, 0x17, 0x1a, 0xff}
	for _, c := range []struct {
		name          string
		width, height int
		flags         []string
		ground        color.Color
	}{
		{"desktop-light", 1280, 1400, nil, light},
		{"desktop-dark", 1280, 1400, []string{"--blink-settings=preferredColorScheme=0"}, dark},
		{"phone-light", 500, 2600, nil, light},
		{"phone-dark", 500, 2600, []string{"--blink-settings=preferredColorScheme=0"}, dark},
	} {
		path := b.shot(c.name, c.width, c.height, c.flags...)
		if ground := cornerOf(t, path); ground != color.RGBAModel.Convert(c.ground) {
			t.Errorf("%s: the ground is %v", c.name, ground)
		}
	}
	printed := filepath.Join(t.ArtifactDir(), "print.pdf")
	b.open("--print-to-pdf="+printed, "--no-pdf-header-footer")
	if text := read(t, printed); !strings.HasPrefix(string(text), "%PDF") || len(text) < 10_000 {
		t.Errorf("printed: %d bytes", len(text))
	}
	if asked := b.elsewhere(); len(asked) > 0 {
		t.Errorf("the page asks for %q", asked)
	}
}

// touched tells, in the title, what stands where the first bad run is told of on a phone: the
// number of lines of dots, and of those that another element covers.
const touched = `<script>{
	const run = document.querySelector(".rows [tabindex]"), told = getComputedStyle(run, "::after");
	run.scrollIntoView({block: "center"});
	run.classList.add("touched");
	const bottom = innerHeight - parseFloat(told.bottom), height = parseFloat(told.height);
	const at = y => document.elementFromPoint(innerWidth / 2, bottom - height + y);
	const lines = [...Array(Math.floor(height)).keys()].map(at);
	const covered = lines.filter(e => e !== run).length;
	document.title = told.position + " " + lines.length + " lines, covered " + covered + " " + told.content;
}</script></body>`

// What a tap tells of a run is covered by nothing, and names the job.
func TestATapTellsOfARun(t *testing.T) {
	s := newSite(t)
	for i := range 15 { // of more, those that are idle are folded
		s.ledger(fmt.Sprintf("orders \"%d\"", i), 30, time.Hour)
	}
	// The browser has no window, and so nothing in it has the focus.
	page := strings.NewReplacer("i:focus", "i.touched", "</body>", touched, "Content-Security-Policy", "no-policy").
		Replace(string(s.report()))
	b := browse(t, []byte(page))
	touch := "--blink-settings=primaryHoverType=1,availableHoverTypes=1"
	dom := b.open("--dump-dom", "--window-size=500,700", touch)
	title := regexp.MustCompile(`<title>([^<]*)`).FindStringSubmatch(dom)[1]
	told := regexp.MustCompile(`^fixed [2-9]\d lines, covered 0 `).MatchString(title)
	if !told || !strings.Contains(title, `orders`) || !strings.Contains(title, "failed 3, web-") {
		t.Error(html.UnescapeString(title))
	}
	b.shot("phone-tap", 500, 700, touch)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func cornerOf(t *testing.T, path string) color.Color {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return color.RGBAModel.Convert(picture.At(1, 1))
}

// filtered tells, in the title, how many rows of jobs, runs and headings are shown of a page that is filtered.
const filtered = `<script>{
	const [text, host] = document.querySelectorAll(".filter input,.filter select"), said = [];
	const seen = what => [...document.querySelectorAll(what)].filter(e => e.checkVisibility()).length;
	const filter = (t, h) => {
		text.value = t;
		for (const o of host.options) if (o.textContent == h) o.selected = true;
		text.dispatchEvent(new Event("input"));
		const counts = [".rows li", ".states tbody tr", ".wrong>tbody>tr", "h3"].map(seen);
		said.push([t, h, ...counts].join(" ") + " " + document.querySelector(".filter [role=status]").textContent);
	};
	filter("", "all");
	filter("ORDERS-2", "all");
	filter("failed web-1", "all");
	filter("", "web-9");
	filter("orders-1 ok", "web-9");
	filter("nothing", "web-9");
	filter("", "all");
	document.title = said.join("; ");
}</script></body>`

func TestThePageIsFilteredByTextAndHost(t *testing.T) {
	s := newSite(t)
	for i := range 30 {
		s.ledger(fmt.Sprintf("orders-%d", i), 4, time.Hour)
	}
	for name, host := range map[string]string{"failed": "web-1", "other": "web-9", "orders-1": "web-9"} {
		how := map[string]string{"failed": "failed 3"}[name]
		if how == "" {
			how = "ok 0"
		}
		end := time.Now().Add(-time.Minute).UnixMilli()
		entry := fmt.Sprintf("01FILTERTEST%014d %s alice 4121 php - 1 7 100 %d 1000 %s", 1, host, end, how)
		for _, words := range [][]any{
			{"DEL", "redlockrun:{" + name + "}:runs"}, {"RPUSH", "redlockrun:{" + name + "}:runs", entry},
			{"HSET", "redlockrun:{" + name + "}:job", "last", entry},
			{"ZADD", "redlockrun:jobs", strconv.FormatInt(end, 10), name},
		} {
			if _, err := s.server.Do(words...); err != nil {
				t.Fatal(err)
			}
		}
	}
	page := strings.Replace(string(s.report()), "Content-Security-Policy", "no-policy", 1)
	b := browse(t, []byte(strings.Replace(page, "</body>", filtered, 1)))
	title := regexp.MustCompile(`<title>([^<]*)`).FindStringSubmatch(b.open("--dump-dom"))[1]
	want := " all 1 1 1 1 ; ORDERS-2 all 11 11 0 0 11 of 32 jobs; failed web-1 all 1 1 1 1 1 of 32 jobs; " +
		" web-9 2 2 0 0 2 of 32 jobs; orders-1 ok web-9 1 1 0 0 1 of 32 jobs; " +
		"nothing web-9 0 0 0 0 0 of 32 jobs;  all 1 1 1 1 "
	if title != want {
		t.Errorf("%q, want %q", title, want)
	}
	if asked := b.elsewhere(); len(asked) > 0 {
		t.Errorf("the filter asks for %q", asked)
	}
	const kept = `<body><script>sessionStorage.setItem("redlockrun filter", '["orders-2","all"]')</script>`
	again := browse(t, []byte(strings.Replace(page, "<body>", kept, 1))).open("--dump-dom")
	if !strings.Contains(again, `>11 of 32 jobs</span>`) {
		t.Error("a page that is read again does not keep its filter")
	}
}

// bar is a run in the path of a dense page, or one that is drawn by itself.
var bar = regexp.MustCompile(`\d,[04]h\d|<i [^>]*role="img"`)

func TestAPageOfAThousandJobsInABrowser(t *testing.T) {
	s := newSite(t)
	for i := range 1000 {
		s.ledger(fmt.Sprintf("job-%04d", i), 50, 28*time.Minute)
	}
	began := time.Now()
	page := s.report()
	made := time.Since(began)
	if len(page) > 1e6 {
		t.Errorf("it has %d bytes", len(page))
	}
	empty, whole := browse(t, []byte("<!DOCTYPE html><title>x</title>")), browse(t, page)
	timed := func(b *browser) (d time.Duration, out string) {
		began := time.Now()
		out = b.open("--dump-dom")
		return time.Since(began), out
	}
	timed(empty) // what the machine has to read for the first time
	nothing, _ := timed(empty)
	loaded, dom := timed(whole)
	if n := len(bar.FindAllString(dom, -1)); n < 45_000 {
		t.Errorf("%d runs are found", n)
	}
	t.Logf("%d bytes, made in %s; loaded, laid out and printed again in %s, of which a browser without it takes %s",
		len(page), made, loaded, nothing)
	if loaded-nothing > 30*time.Second {
		t.Errorf("loading takes %s", loaded-nothing)
	}
	whole.shot("thousand", 1280, 2000)
}
