//go:build linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A cronLine is a line of a crontab, as cron(8) understands it.
type cronLine struct {
	env            []string // the lines NAME=VALUE before it
	text           string   // behind the schedule, as it stands there
	command, input string   // what cron makes of it
}

var setting = regexp.MustCompile(`^[A-Z_]+=`)

// readCrontab reads an example with one line that runs something.
func readCrontab(t *testing.T, name string) (line cronLine) {
	t.Helper()
	for text := range strings.Lines(block(t, name)) {
		text = strings.TrimSpace(text)
		if setting.MatchString(text) {
			line.env = append(line.env, text)
			continue
		}
		words := regexp.MustCompile(`^(?:\S+\s+){5}(.*)$`).FindStringSubmatch(text)
		if words == nil || line.command != "" {
			t.Fatalf("the crontab %q has the line %q", name, text)
		}
		line.text = words[1]
		line.command, line.input = percent(line.text)
	}
	return line
}

// percent does what cron does: the first % ends the command, what follows is its input, and
// each further one is the end of a line there. Behind a backslash a % is itself.
func percent(text string) (command, input string) {
	const kept = "\x00"
	text = strings.ReplaceAll(text, `\%`, kept)
	command, input, _ = strings.Cut(text, "%")
	input = strings.ReplaceAll(input, "%", "\n")
	return strings.ReplaceAll(command, kept, "%"), strings.ReplaceAll(input, kept, "%")
}

func TestPercentSignsAreThoseOfCron(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		`date +\%F`:       {"date +%F", ""},
		`date +%F`:        {"date +", "F"},
		`mail ops%a%b\%c`: {"mail ops", "a\nb%c"},
	} {
		if command, input := percent(text); [2]string{command, input} != want {
			t.Errorf("%s: %q, %q", text, command, input)
		}
	}
}

// cron runs a line's command as cron does, on so many hosts.
func (s *site) cron(line cronLine, hosts int) []run {
	s.t.Helper()
	return s.inOneTick(hosts, func() *exec.Cmd { return s.started(line) })
}

// cronOnce runs a line's command as cron does, once, whatever slot it is: what was before
// stays as it is.
func (s *site) cronOnce(line cronLine) run {
	s.t.Helper()
	return s.finish(s.started(line))
}

// started is a line's command as cron starts it.
func (s *site) started(line cronLine) *exec.Cmd {
	cmd := s.command(s.t.Context(), "/bin/sh", "-c", line.command)
	cmd.Stdin = strings.NewReader(line.input)
	return cmd
}

// inOneTick runs what start returns on each host, one host after the other, so that all
// start in the same slot: if they do not, all that was before is forgotten, and they start anew.
func (s *site) inOneTick(hosts int, start func() *exec.Cmd) (runs []run) {
	s.t.Helper()
	const shortest = 5 * time.Minute // of the slots
	for {
		tick := time.Now().Truncate(shortest)
		runs = nil
		for range hosts {
			runs = append(runs, s.finish(start()))
		}
		if time.Now().Truncate(shortest).Equal(tick) {
			return runs
		}
		s.forget()
	}
}

func TestReadmeCrontabRunsOncePerTickAndIsSilent(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho \"$@\" >>ran\n")
	line := readCrontab(t, "crontab")
	if len(line.env) != 1 || !strings.HasPrefix(line.env[0], "PATH=/usr/local/bin:") {
		t.Error("the PATH of cron has no /usr/local/bin")
	}
	want(t, s.cron(line, 3), run{}, run{}, run{})
	if ran := s.ran(); ran != "/srv/shop/cancel_orders.php\n" {
		t.Errorf("three hosts ran %q", ran)
	}
	s.hold("cancel-orders")
	want(t, s.cron(line, 1), run{})
}

func TestReadmeCrontabTellsOfAFailure(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\nexit 3\n") // without a word, of which cron would mail nothing
	for _, r := range s.cron(readCrontab(t, "crontab"), 2) {
		if r.status != 3 || r.stdout != "" || !failedWithStatus3.MatchString(r.stderr) {
			t.Errorf("%v", r)
		}
	}
}

// failedWithStatus3 is all that --warn-failed says.
var failedWithStatus3 = regexp.MustCompile(
	`^redlockrun: warning: the command ended with status 3 on [^ ]+ after [^ ]+, under lock "cancel-orders"\n$`)

func TestRecipeTakeoverRunsElsewhereWhatFailed(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho start >>ran\n[ $(wc -l <ran) = 2 ]\n")
	line := readCrontab(t, "takeover")
	if strings.Contains(line.command, "-E 0") {
		t.Error("who has waited in vain is silent")
	}
	want(t, s.cron(line, 3), run{status: 1}, run{}, run{})
	if ran := s.ran(); ran != "start\nstart\n" {
		t.Errorf("three hosts ran %q", ran)
	}
}

func TestRecipeAnacronCatchesUpOnce(t *testing.T) {
	s := newSite(t)
	s.provide("pg_dump", "#!/bin/sh\necho start >>ran\necho \"$@\"\n[ $(wc -l <ran) = 2 ]\n")
	s.provide("logger", "#!/bin/sh\nexec cat\n")
	line := readCrontab(t, "anacron")
	line.command = strings.ReplaceAll(line.command, "/srv/backup", s.dir)
	want(t, s.cron(line, 3), run{}, run{}, run{}) // the status is that of logger
	if ran := s.ran(); ran != "start\nstart\n" {
		t.Errorf("three hosts ran %q", ran)
	}
	days, err := filepath.Glob(filepath.Join(s.dir, "shop-20??-??-??.sql"))
	if err != nil || len(days) != 1 {
		t.Errorf("%q %v", days, err)
	}
	s.hold("nightly-backup")
	want(t, s.cron(line, 1), run{})
}
