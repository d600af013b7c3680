//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/ability"
	"redlockrun/internal/lock"

	"gopkg.in/yaml.v3"
)

// What differs from run to run in the output that README.md shows.
var (
	holder  = regexp.MustCompile(`held by \S+:\d+ \([^,]+, `)
	since   = regexp.MustCompile(`since [0-9TZ:-]+, [0-9.]+s left`)
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

func canonical(output string) string {
	output = holder.ReplaceAllString(output, "held by HOLDER (USER, ")
	output = since.ReplaceAllString(output, "since TIME, SECONDS left")
	return address.ReplaceAllString(output, "127.0.0.1:PORT")
}

func TestReadmeSessionPrintsWhatItShows(t *testing.T) {
	s := newSite(t)
	var script strings.Builder
	for line := range strings.Lines(block(t, "session")) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		fmt.Fprintf(&script, "echo '$ %s'\n(exit $status)\n%s\nstatus=$?\n", strings.ReplaceAll(command, "'", `'\''`), command)
		if strings.HasSuffix(command, "&") {
			fmt.Fprintf(&script, "until [ \"$(redis-cli -s %s exists 'redlockrun:{backup}')\" = 1 ]; do sleep 0.01; done\n", s.server.Socket())
		}
	}
	script.WriteString("kill $(jobs -p)\nwait\n")
	got := s.run("bash", "-c", "exec 2>&1\nstatus=0\n"+script.String())
	if want := canonical(block(t, "session")); canonical(got.stdout) != want {
		t.Errorf("got\n%s\nwant\n%s", canonical(got.stdout), want)
	}
}

func TestReadmeInstall(t *testing.T) {
	ability.Slow(t)
	s := newSite(t)
	for _, command := range []string{"make build", "make install"} {
		if !strings.Contains(block(t, "install"), command) {
			t.Errorf("the installation has no %q", command)
		}
	}
	cmd := s.command(t.Context(), "make", "-s", "install", "DESTDIR="+s.dir, "PREFIX=/usr")
	cmd.Dir, cmd.Env = "../..", os.Environ()
	if r := s.finish(cmd); r.status != 0 {
		t.Fatal(r)
	}
	if r := s.run(filepath.Join(s.dir, "usr/bin/redlockrun"), "--version"); r.status != 0 || !strings.HasPrefix(r.stdout, "redlockrun ") {
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

// cronLine are the schedule and the command of the crontab.
func cronLine(t *testing.T) (schedule, command string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(block(t, "crontab")), "\n")
	if !strings.HasPrefix(lines[0], "PATH=/usr/local/bin:") {
		t.Error("the PATH of cron has no /usr/local/bin")
	}
	line := strings.Fields(lines[1])
	schedule = strings.Join(line[:5], " ")
	command = strings.Join(line[5:], " ")
	if strings.Contains(command, "%") {
		t.Errorf("cron turns the %% of %q into newlines", command)
	}
	return schedule, command
}

func TestReadmeCrontabRunsOncePerSlotAndIsSilent(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho \"$@\" >>ran\n")
	_, command := cronLine(t)
	for host := range 3 {
		if r := s.run("sh", "-c", command); r != (run{}) {
			t.Errorf("host %d: %v", host, r)
		}
	}
	if ran, _ := os.ReadFile(filepath.Join(s.dir, "ran")); string(ran) != "/srv/shop/cancel_orders.php\n" {
		t.Errorf("three hosts ran %q", ran)
	}
}

// unit reads a unit file: [Section] and Key=Value.
func unit(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	sections, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch name, isSection := strings.CutPrefix(line, "["); {
		case line == "" || strings.HasPrefix(line, "#"):
		case isSection:
			section = strings.TrimSuffix(name, "]")
			sections[section] = map[string]string{}
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				t.Fatalf("a unit file has the line %q", line)
			}
			sections[section][key] = value
		}
	}
	return sections
}

// execStart is the service's command, with the programs of this site.
func (s *site) execStart(service map[string]string) []string {
	words := strings.Fields(service["ExecStart"])
	for i, word := range words {
		switch word {
		case "/usr/local/bin/redlockrun":
			words[i] = filepath.Join(bin, "redlockrun")
		case "/usr/bin/php":
			words[i] = filepath.Join(s.dir, "php")
		}
	}
	return words
}

func TestReadmeServiceEndsWellWhenStopped(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho ready\nexec sleep 100\n")
	service := unit(t, block(t, "service"))["Service"]
	if service["KillMode"] != "mixed" {
		t.Errorf("KillMode=%s: the command would get two SIGTERM", service["KillMode"])
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.command(ctx, s.execStart(service)...)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // its status is looked at below
	if status := fmt.Sprint(cmd.ProcessState.ExitCode()); !slices.Contains(strings.Fields(service["SuccessExitStatus"]), status) {
		t.Errorf("status %s is none of SuccessExitStatus=%s", status, service["SuccessExitStatus"])
	}
}

func TestReadmeTimerStartsTheService(t *testing.T) {
	timer := unit(t, block(t, "timer"))
	if timer["Timer"]["OnCalendar"] == "" || timer["Install"]["WantedBy"] != "timers.target" {
		t.Errorf("%v", timer)
	}
	name := func(block string) string {
		path, _, _ := strings.Cut(strings.TrimPrefix(block, "# "), "\n")
		return strings.TrimSuffix(path, filepath.Ext(path))
	}
	if service := name(block(t, "service")); name(block(t, "timer")) != service {
		t.Errorf("the timer is not that of %s", service)
	}
}

// A cronJob is what the test needs of the manifest.
type cronJob struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Spec       struct {
		Schedule    string
		JobTemplate struct {
			Spec struct {
				BackoffLimit int `yaml:"backoffLimit"`
				Template     struct {
					Spec struct {
						RestartPolicy string `yaml:"restartPolicy"`
						Containers    []container
					}
				}
			}
		} `yaml:"jobTemplate"`
	}
}

type container struct {
	Command, Args []string
	Env           []struct {
		Name      string
		ValueFrom struct {
			SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
}

func TestReadmeCronJobSkipsWithoutAFailure(t *testing.T) {
	var job cronJob
	if err := yaml.Unmarshal([]byte(block(t, "cronjob")), &job); err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "CronJob" || len(strings.Fields(job.Spec.Schedule)) != 5 || pod.RestartPolicy != "Never" {
		t.Errorf("%+v", job)
	}
	c := pod.Containers[0]
	if env := c.Env[0]; env.Name != "REDLOCKRUN_REDIS" || env.ValueFrom.SecretKeyRef.Key == "" {
		t.Errorf("%+v", c.Env)
	}
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho \"$PPID $*\"\n")
	s.env = append(s.env, "REDLOCKRUN_PORT=tcp://10.0.0.1:80") // Kubernetes does so for a Service of that name
	for _, want := range []run{{stdout: "1 /srv/shop/cancel_orders.php\n"}, {}} {
		cmd := s.command(t.Context(), append(c.Command, c.Args...)...)
		cmd.SysProcAttr = asInit()
		if r := s.finish(cmd); r != want {
			t.Errorf("%v, want %v", r, want)
		}
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
	for _, name := range []string{"git", "make", "publish.sh", "reindex.sh", "import.sh", "migrate.sh"} {
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
	want := "git deploy\nmake deploy\npublish.sh publish\nreindex.sh reindex\nimport.sh import\nmigrate.sh migrate\n"
	if ran, _ := os.ReadFile(filepath.Join(s.dir, "ran")); string(ran) != want {
		t.Errorf("ran %q", ran)
	}
}

func TestReadmeOutagesFollowFromTheTimes(t *testing.T) {
	for _, row := range rows(block(t, "outages")) {
		ttl := duration(t, row[0])
		x := lock.TimesOf(ttl)
		life := x.TTL - x.Drift - x.Margin - x.Grace // from a renewal to SIGTERM
		if short := life - x.Renew - x.Try - x.Pause; duration(t, row[1]) > short || duration(t, row[1]) < short*95/100 {
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

func TestReadmeAndHelpHaveTheSameFlags(t *testing.T) {
	s := newSite(t)
	_, table, _ := strings.Cut(readme(t), "| flag | default | meaning |")
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
		t.Errorf("README.md: %q\n--help: %q", documented, helped)
	}
}
