//go:build linux

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are those that users read, README.md first.
var pages = []string{
	"README.md", "docs/getting-started.md", "docs/flags.md", "docs/once.md", "docs/permits.md", "docs/operators.md",
	monitoringPage, "docs/stores.md", "docs/containers.md", "docs/guarantees.md",
	"docs/troubleshooting.md", "docs/recipes.md", "docs/sections.md", "docs/migrating.md",
}

// page is the text of one of them.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// users is the text of all pages.
func users(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, name := range pages {
		text.WriteString(page(t, name))
	}
	return text.String()
}

// In these pages the line <!-- test: NAME --> stands before each example and
// before each table that a test holds to the truth.
var marker = regexp.MustCompile(`(?m)^<!-- test: ([a-z]+) -->\n`)

// block is the example NAME: what stands between its fences, or the table.
func block(t *testing.T, name string) string {
	t.Helper()
	text := users(t)
	for _, at := range marker.FindAllStringSubmatchIndex(text, -1) {
		if text[at[2]:at[3]] != name {
			continue
		}
		rest := text[at[1]:]
		if !strings.HasPrefix(rest, "```") {
			table, _, _ := strings.Cut(rest, "\n\n")
			return table
		}
		_, rest, _ = strings.Cut(rest, "\n")
		body, _, found := strings.Cut(rest, "```\n")
		if !found {
			t.Fatalf("the example %q has no end", name)
		}
		return body
	}
	t.Fatalf("no page has the example %q", name)
	return ""
}

// rows are the cells of a table, without its head.
func rows(table string) (cells [][]string) {
	for line := range strings.Lines(table) {
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			row = append(row, strings.Trim(strings.TrimSpace(cell), "`"))
		}
		cells = append(cells, row)
	}
	return cells[2:]
}

func TestEveryExampleOfThePagesIsTested(t *testing.T) {
	tested := []string{
		"pitch", "compare", "session", "install", "loadimage", "defaults", "crontab", "service", "container", "shell",
		"firstjob", "onceper", "permits", "operators", "monitoring", "troubleshooting", "doctorchecks", "timer",
		"cronjob", "script", "outages", "acl", "credential", "secret", "tokens", "stores", "sentinelacl", "readeracl",
		"operatoracl", "rights", "keys", "takeover", "anacron", "clusters", "coalesce", "pings", "mail", "deploy",
		"replace", "overdue", "deadman", "deadmanservice", "deadmantimer", "nagios", "metricsenable",
		"metricsservice", "metricstimer", "jobspage", "deb", "rpm", "apk", "archive", "source", "units", "dropin",
		"sums", "verify", "imagestatus", "copyfrom", "initcontainer", "section", "sectionbash",
		"migrate", "migrateflock", "migrateshared", "migratesection", "migratesetlock",
	}
	text := users(t)
	var marked []string
	for _, m := range marker.FindAllStringSubmatch(text, -1) {
		marked = append(marked, m[1])
	}
	slices.Sort(tested)
	slices.Sort(marked)
	if !slices.Equal(marked, tested) {
		t.Errorf("marked: %q\ntested: %q", marked, tested)
	}
	fences := strings.Count(text, "\n```") / 2
	const tables, unmarked = 8, 1 // marked ones; the two lines of usage
	if fences != len(marked)-tables+unmarked {
		t.Errorf("%d examples, of which %d are marked", fences, len(marked)-tables)
	}
}
