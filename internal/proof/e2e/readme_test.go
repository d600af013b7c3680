//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
)

func TestReadmeInstall(t *testing.T) {
	ability.Slow(t)
	s := newSite(t)
	for _, command := range []string{"make build", "make install"} {
		if !strings.Contains(block(t, "install"), command) {
			t.Errorf("the installation has no %q", command)
		}
	}
	cmd := s.command(t.Context(), "make", "-s", "build", "man", "install", "DESTDIR="+s.dir, "PREFIX=/usr")
	cmd.Dir, cmd.Env = "../../..", os.Environ()
	if r := s.finish(cmd); r.status != 0 {
		t.Fatal(r)
	}
	page, err := os.ReadFile(filepath.Join(s.dir, "usr/share/man/man1/redlockrun.1"))
	if err != nil || !strings.Contains(string(page), ".TH ") {
		t.Errorf("the manual page: %v", err)
	}
	if r := s.run(filepath.Join(s.dir, "usr/bin/redlockrun"), "--version"); r.status != 0 ||
		!strings.HasPrefix(r.stdout, "redlockrun ") {
		t.Error(r)
	}
}

func TestReadmeDefaultsFile(t *testing.T) {
	s := newSite(t)
	text := strings.ReplaceAll(block(t, "defaults"), "redis.internal:6379", s.server.Addr())
	file := s.provide("defaults", text)
	s.env = []string{"PATH=" + os.Getenv("PATH"), "REDLOCKRUN_CONFIG=" + file}
	if r := s.run("redlockrun", "--key", "x", "--", "echo", "ran"); r != (run{0, "ran\n", ""}) {
		t.Error(r)
	}
}

func TestReadmeScriptLocksItself(t *testing.T) {
	s := newSite(t)
	script := s.provide("report", block(t, "script"))
	r := s.run(script, "a b", "c")
	if r.status != 0 || !strings.HasSuffix(r.stdout, " is alone with: a b c\n") || r.stderr != "" {
		t.Error(r)
	}
	release := s.hold("nightly-report")
	if r := s.run(script); r.status != 75 || r.stdout != "" {
		t.Errorf("while another holds the lock: %v", r)
	}
	release()
	// A script that such a script runs has redlockrun for an ancestor, not for its parent.
	s.provide("outer", "#!/bin/sh\nset -e\nredlockrun --key outer -- sh -c 'true; ./report inner; true'\n")
	if r := s.run("./outer"); r.status != 0 || !strings.HasSuffix(r.stdout, "with: inner\n") {
		t.Error(r)
	}
}

func TestReadmeShellExamplesRun(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"git", "make", "reindex.sh", "import.sh", "migrate.sh"} {
		s.provide(name, "#!/bin/sh\necho \"${0##*/} $REDLOCKRUN_HELD_KEY\" >>ran\n")
	}
	for line := range strings.Lines(block(t, "shell")) {
		command, _, _ := strings.Cut(line, " # ")
		if strings.Contains(command, "--local") {
			continue // below
		}
		if r := s.run("sh", "-c", command); r != (run{}) {
			t.Errorf("%s: %v", command, r)
		}
	}
	local := regexp.MustCompile(`(?m)^.*--local `).FindString(block(t, "shell"))
	s.env = []string{"PATH=" + s.dir + ":" + bin + ":" + os.Getenv("PATH"), "REDLOCKRUN_CONFIG=/dev/null"}
	if r := s.run("sh", "-c", strings.Replace(local, "--local", "--local=locks", 1)+"-- ./migrate.sh"); r != (run{}) {
		t.Error(r)
	}
	want := "git deploy\nmake deploy\nreindex.sh reindex\nimport.sh import\nmigrate.sh migrate\n"
	if ran, _ := os.ReadFile(filepath.Join(s.dir, "ran")); string(ran) != want {
		t.Errorf("ran %q", ran)
	}
}

func TestThePermitsOfThePageRun(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"encode.sh", "report.sh", "migrate.sh"} {
		s.provide(name, "#!/bin/sh\necho \"${0##*/} $REDLOCKRUN_PERMIT\" | cut -c 1-16 >>ran\n")
	}
	for line := range strings.Lines(block(t, "permits")) {
		if r := s.run("sh", "-c", line); r != (run{}) {
			t.Errorf("%s: %v", line, r)
		}
	}
	want := "encode.sh 1\nreport.sh 1\nmigrate.sh 1 2 3\n"
	if ran, _ := os.ReadFile(filepath.Join(s.dir, "ran")); string(ran) != want {
		t.Errorf("ran %q", ran)
	}
}

// The first lines of the README: a success ten minutes ago, then two hosts in one tick.
func TestReadmeFirstLinesAreTrue(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\nif [ -e done ]; then exec cat; fi\ntouch done\n") // the second until its input ends
	_, rest, _ := strings.Cut(block(t, "pitch"), "\n")
	line, table, _ := strings.Cut(rest, "\n")
	command := regexp.MustCompile(`^(\S+\s+){5}www-data\s+`).ReplaceAllString(line, "")
	if r := s.run("sh", "-c", strings.Replace(command, "--once-per 5m", "--once-per 10m", 1)); r != (run{}) {
		t.Fatal(r)
	}
	first := s.command(t.Context(), "sh", "-c", command)
	input, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := s.begin(first)
	s.until("EXISTS", "redlockrun:{cancel-orders}")
	if r := s.run("sh", "-c", command); r != (run{}) {
		t.Errorf("the second host: %v", r)
	}
	_, table, _ = strings.Cut(table, "\n")
	if got := s.run("redlockrun", "status").stdout; masked(got) != masked(table) {
		t.Errorf("got\n%s\nwant\n%s", got, table)
	}
	input.Close()
	want(t, []run{ended()}, run{})
}

func TestReadmeOutagesFollowFromTheTimes(t *testing.T) {
	for _, row := range rows(block(t, "outages")) {
		ttl := duration(t, row[0])
		x := lock.TimesOf(ttl)
		life := x.TTL - x.Drift - x.Margin - x.Grace // from a renewal to SIGTERM
		if short := life - x.Renew - x.Try - x.RetryDelay; duration(t, row[1]) > short ||
			duration(t, row[1]) < short*95/100 {
			t.Errorf("ttl %v: outages shorter than %v are survived, not %s", ttl, short, row[1])
		}
		if long := duration(t, row[2]); long < life || long > life*102/100 {
			t.Errorf("ttl %v: outages longer than %v are not survived, not %s", ttl, life, row[2])
		}
		if duration(t, row[3]) != ttl {
			t.Errorf("ttl %v: blocks for %s", ttl, row[3])
		}
	}
}

func TestThePageOfFlagsAndHelpHaveTheSameFlags(t *testing.T) {
	s := newSite(t)
	_, table, _ := strings.Cut(page(t, "docs/flags.md"), "| flag | default | meaning |")
	table, _, _ = strings.Cut(table, "\n\n")
	flag := regexp.MustCompile(`--[a-z][a-z-]+`)
	var documented []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			documented = append(documented, flag.FindAllString(cells[1], -1)...)
		}
	}
	documented = slices.DeleteFunc(documented, func(f string) bool { return strings.Trim(f, "-") == "" })
	var helped []string
	for line := range strings.Lines(s.run("redlockrun", "--help").stdout) {
		if found := regexp.MustCompile(`^ +(-[a-zA-Z], )?(--[a-z][a-z-]+)`).FindStringSubmatch(line); found != nil {
			helped = append(helped, found[2])
		}
	}
	slices.Sort(documented)
	slices.Sort(helped)
	if !slices.Equal(documented, helped) {
		t.Errorf("docs/flags.md: %q\n--help: %q", documented, helped)
	}
}
