//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRecipeDeadMansSwitchSpeaksUntilTheJobSucceeds(t *testing.T) {
	s := newSite(t)
	line := readCrontab(t, "deadman")
	if r := s.cronOnce(line); !strings.HasPrefix(r.stdout,
		"REDLOCKRUN CRITICAL - nightly-report: no success is recorded") {
		t.Errorf("of a job that never ran cron mails %q", r.stdout)
	}
	s.succeed("nightly-report")
	want(t, []run{s.cronOnce(line)}, run{})
	s.server.Close()
	if r := s.cronOnce(line); !strings.HasPrefix(r.stdout, "REDLOCKRUN UNKNOWN - cannot ask Redis") {
		t.Errorf("without Redis cron mails %q", r.stdout)
	}
}

func TestRecipeOfAJobThatShouldHaveRunArmsEachReader(t *testing.T) {
	s := newSite(t)
	line := readCrontab(t, "overdue")
	const script = "/opt/jobs/report.sh"
	if !strings.HasSuffix(line.command, " -- "+script) {
		t.Fatalf("%q", line.command)
	}
	s.provide("report.sh", "#!/bin/sh\n")
	line.command = strings.Replace(line.command, script, filepath.Join(s.dir, "report.sh"), 1)
	want(t, []run{s.cronOnce(line)}, run{})
	if r := s.run("redlockrun", "check", "--all"); r.status != 0 {
		t.Errorf("%v", r)
	}
	if r := s.run("redlockrun", "status", "nightly-report"); !strings.Contains(r.stdout,
		"a success at least every 26h; due in ") {
		t.Errorf("%v", r)
	}
}

// succeed lets a job have a success.
func (s *site) succeed(key string) {
	s.t.Helper()
	if r := s.run("redlockrun", "--key", key, "--", "true"); r != (run{}) {
		s.t.Fatal(r)
	}
}

func TestRecipeDeadMansServiceFailsUntilTheJobSucceeds(t *testing.T) {
	s := newSite(t)
	service := unit(t, block(t, "deadmanservice"))
	if !strings.Contains(service["Unit"]["OnFailure"], "%n") || service["Service"]["Type"] != "oneshot" {
		t.Errorf("%v", service)
	}
	words := s.execStart(service["Service"])
	if r := s.run(words...); r.status != 2 {
		t.Errorf("of a job that never ran: %v", r)
	}
	s.succeed("nightly-report")
	if r := s.run(words...); r.status != 0 {
		t.Errorf("of one that succeeded: %v", r)
	}
}

func TestRecipeTimersOfMonitoringStartTheirServices(t *testing.T) {
	for timer, service := range map[string]string{"deadmantimer": "deadmanservice", "metricstimer": "metricsservice"} {
		text := unit(t, block(t, timer))
		if text["Timer"]["OnCalendar"] == "" || text["Install"]["WantedBy"] != "timers.target" {
			t.Errorf("%v", text)
		}
		if unitName(t, timer) != unitName(t, service) {
			t.Errorf("%s is not that of %s", timer, service)
		}
	}
}

// unitName is what the first line of a unit says, without its kind.
func unitName(t *testing.T, example string) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(block(t, example), "# "), "\n")
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

func TestRecipePluginsOfNagiosAnswer(t *testing.T) {
	s := newSite(t)
	command := regexp.MustCompile(`^command\[[a-z_]+\]=(redlockrun check .+)$`)
	commands := 0
	for line := range strings.Lines(block(t, "nagios")) {
		m := command.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("%q", line)
		}
		words := strings.Fields(m[1])
		if r := s.run(words...); r.status != 2 || !strings.HasPrefix(r.stdout, "REDLOCKRUN CRITICAL - ") {
			t.Errorf("%s: %v", m[1], r)
		}
		commands++
	}
	for _, key := range []string{"cancel-orders", "nightly-report", "weekly-report"} {
		s.succeed(key)
	}
	for line := range strings.Lines(block(t, "nagios")) {
		if r := s.run(strings.Fields(command.FindStringSubmatch(strings.TrimSpace(line))[1])...); r.status != 0 {
			t.Errorf("%s: %v", line, r)
		}
	}
	if commands != 2 {
		t.Errorf("%d commands", commands)
	}
}

func TestRecipeOfAPageWritesItForTheWebServer(t *testing.T) {
	s := newSite(t)
	s.succeed("nightly-report")
	line := readCrontab(t, "jobspage")
	const served = "/var/www/html/jobs.html"
	if strings.Count(line.command, served) != 1 {
		t.Fatalf("no page in %q", line.command)
	}
	line.command = strings.Replace(line.command, served, filepath.Join(s.dir, "jobs.html"), 1)
	want(t, []run{s.cronOnce(line)}, run{})
	text, err := os.ReadFile(filepath.Join(s.dir, "jobs.html"))
	if err != nil || !strings.HasPrefix(string(text), "<!DOCTYPE html>") ||
		!strings.Contains(string(text), "nightly-report") {
		t.Fatalf("%v: %.200s", err, text)
	}
	s.server.Close()
	if r := s.cronOnce(line); !strings.Contains(r.stderr, "cannot ask Redis") {
		t.Errorf("without Redis cron mails %q", r.stderr)
	}
	if kept, err := os.ReadFile(filepath.Join(s.dir, "jobs.html")); err != nil || string(kept) != string(text) {
		t.Errorf("without Redis the page is another: %v", err)
	}
}

// textfile is where the service of the metrics writes, in the site's directory.
const textfile = "redlockrun.prom"

// metricsService is what the service of the metrics runs, to write into the site's directory.
func (s *site) metricsService() []string {
	s.t.Helper()
	words := s.execStart(unit(s.t, block(s.t, "metricsservice"))["Service"])
	last := len(words) - 1
	if filepath.Base(words[last]) != textfile {
		s.t.Fatalf("%q", words)
	}
	words[last] = filepath.Join(s.dir, textfile)
	return words
}

// aMetric is the full name of one.
var aMetric = regexp.MustCompile(`\bredlockrun_[a-z_]+\b`)

func TestRecipeMetricsAreThoseOfThePageAndTheFiles(t *testing.T) {
	s := newSite(t)
	if r := s.run("redlockrun", "--key", "nightly-report", "--max-age", "26h", "--", "true"); r != (run{}) {
		t.Fatal(r)
	}
	s.hold("cancel-orders")
	if r := s.run(s.metricsService()...); r != (run{}) {
		t.Fatal(r)
	}
	info, err := os.Stat(filepath.Join(s.dir, textfile))
	if err != nil || info.Mode() != 0o644 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, textfile))
	if err != nil {
		t.Fatal(err)
	}
	names := func(text string) []string { return sorted(aMetric.FindAllString(text, -1)) }
	written := names(string(text))
	_, table, _ := strings.Cut(page(t, monitoringPage), "\n| metric |")
	table, _, _ = strings.Cut(table, "\n\n")
	if told := names(table); !slices.Equal(told, written) {
		t.Errorf("the page tells of %q, there are %q", told, written)
	}
	for _, file := range []string{"alerts.yml", "alerts_test.yml", "dashboard.json"} {
		for _, name := range names(page(t, filepath.Join(filepath.Dir(monitoringPage), file))) {
			if !slices.Contains(written, name) {
				t.Errorf("%s asks for %s, which is no metric", file, name)
			}
		}
	}
}

func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

const monitoringPage = "docs/monitoring/README.md"

// A dashboard is what is read of Grafana's.
type dashboard struct {
	Title, UID string
	Panels     []struct {
		ID      int
		Title   string
		Targets []struct{ Expr, RefID string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal([]byte(page(t, "docs/monitoring/dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEachPanelOfTheDashboardAsksForSomething(t *testing.T) {
	d := readDashboard(t)
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 || p.Targets[0].Expr == "" || p.Targets[0].RefID == "" {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
	}
	if d.Title == "" || d.UID == "" || len(d.Panels) < 10 {
		t.Errorf("%q %q, %d panels", d.Title, d.UID, len(d.Panels))
	}
}
