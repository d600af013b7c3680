package scripts

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	aFence   = regexp.MustCompile("(?ms)^```.*?^```$")
	aComment = regexp.MustCompile(`(?m)^<!--.*-->$`)
	aHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anAnchor = regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	anEnd    = regexp.MustCompile(`[.!?]["'*)]*(?:\s|$)`)
)

// sentences are those of a text without its examples and headings. Each cell of a table and each
// point of a list ends one.
func sentences(text string) (all []string) {
	for _, not := range []*regexp.Regexp{aFence, indented, aComment, aHeading} {
		text = not.ReplaceAllString(text, "")
	}
	text = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(text, "]")
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		for _, part := range regexp.MustCompile(`\n- |\n\d+\. |\n?\|`).Split(paragraph, -1) {
			all = append(all, anEnd.Split(part, -1)...)
		}
	}
	return all
}

func TestSentencesAreToldApart(t *testing.T) {
	t.Parallel()
	got := sentences("# A heading\n\nOne is [here](there.md). Two\ngoes on (here.) \n\n- a point\n" +
		"- \"another!\" end\n\n```sh\nno\n```\n| a | b c |\n")
	var words []string
	for _, s := range got {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			words = append(words, s)
		}
	}
	want := []string{"One is [here]", "Two goes on (here", "- a point", `"another`, "end", "a", "b c"}
	if !slices.Equal(words, want) {
		t.Errorf("%q, not %q", words, want)
	}
}

// Who opens the page has a question; the answers stand in the order of the questions.
func TestTheReadmeAnswersInOrder(t *testing.T) {
	t.Parallel()
	text := read(t, "README.md")
	want := []string{
		"redlockrun", "Compared", "Install", "First minute", "Recipes", "It did not run: what now?", "Exit statuses",
		"Guarantees", "Before production", "More",
	}
	if got := named(aHeading, aFence.ReplaceAllString(text, "")); !slices.Equal(got,
		slices.Sorted(slices.Values(want))) {
		t.Errorf("the headings are %q", got)
	}
	at := 0
	for _, heading := range want {
		next := strings.Index(text[at:], "# "+heading+"\n")
		if next < 0 {
			t.Fatalf("%q is missing, or stands too early", heading)
		}
		at += next
	}
	for _, target := range []string{"`make demo`", "`make test`"} {
		if !strings.Contains(text, target) {
			t.Errorf("it does not name %s", target)
		}
	}
}

// anchors are the names by which a page's headings can be linked to.
func anchors(text string) (names []string) {
	for _, m := range aHeading.FindAllStringSubmatch(aFence.ReplaceAllString(text, ""), -1) {
		title := regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(strings.ToLower(m[1]), "]")
		names = append(names, strings.ReplaceAll(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(title, ""), " ", "-"))
	}
	return names
}

// That the files are there is tested with all other names of files.
func TestEveryLinkToAHeadingResolves(t *testing.T) {
	t.Parallel()
	found := 0
	for from, text := range sources(t, "..") {
		if !strings.HasSuffix(from, ".md") {
			continue
		}
		for _, m := range anAnchor.FindAllStringSubmatch(text, -1) {
			to := from
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(from), m[1])
			}
			found++
			if !there(to) {
				t.Errorf("%s links to %s, which is not there", from, to)
			} else if !slices.Contains(anchors(read(t, to)), m[2]) {
				t.Errorf("%s links to #%s, which %s does not have", from, m[2], to)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d links were found", found)
	}
}

// Nobody finds a page that no page links to.
func TestTheReadmeLeadsToEveryPage(t *testing.T) {
	t.Parallel()
	linked := map[string]bool{}
	var follow func(page string)
	follow = func(page string) {
		if linked[page] || !strings.HasSuffix(page, ".md") || !there(page) {
			return
		}
		linked[page] = true
		for _, to := range named(aLink, read(t, page)) {
			follow(filepath.Join(filepath.Dir(page), to))
		}
	}
	follow("README.md")
	for path := range sources(t, "..") {
		if strings.HasPrefix(path, "docs/") && strings.HasSuffix(path, ".md") && !linked[path] {
			t.Errorf("no page leads to %s: link it where its reader comes from, docs/operators.md or "+
				"docs/dev/architecture.md", path)
		}
	}
}

// What a message calls "README: ..." is linked there by these words.
func TestTheReadmeHasWhatHintsName(t *testing.T) {
	t.Parallel()
	hint, readme := regexp.MustCompile(`README: ([a-zA-Z ]+)`), read(t, "README.md")
	found := 0
	for path, text := range sources(t, "..") {
		if !strings.HasPrefix(path, "cmd/") && !strings.HasPrefix(path, "internal/") ||
			strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, what := range named(hint, text) {
			found++
			if !strings.Contains(readme, "["+what+"](") {
				t.Errorf("%s names %q, which the README does not link", path, what)
			}
		}
	}
	if found == 0 {
		t.Error("no hint names the README")
	}
}
