//go:build linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// masks are what differs from run to run, and what stands for it when two outputs are compared.
var masks = []struct {
	what *regexp.Regexp
	mask string
}{
	{regexp.MustCompile(`held by \S+:\d+ \([^,]+, `), "held by HOST:PID (USER, "},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`--port \d+|-p \d+`), "--port PORT"},
	{regexp.MustCompile(`(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d [A-Z]{3,4}\b`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d\b`), "DAY"},
	{regexp.MustCompile(`\w+@[\w-]+`), "USER@HOST"},
	{regexp.MustCompile(`\b(HOST|web-\d):\d+ `), "HOST:PID "},
	{regexp.MustCompile(`=\d+\.\d+s`), "=SPAN"},
	{regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`), "ID"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(d|h|ms|m|s))+( ago| left)?\b`), "SPAN"},
	{regexp.MustCompile(`\bweb-\d\b`), "HOST"},
	{regexp.MustCompile(`[▏▎▍▌▋▊▉█]+`), "BAR"},
	{regexp.MustCompile(` {2,}`), " "}, // columns are as wide as what stands in them
	{regexp.MustCompile(`(?m) +$`), ""},
}

// masked is an output as it can be compared.
func masked(output string) string {
	if host, err := os.Hostname(); err == nil {
		output = regexp.MustCompile(`\b`+regexp.QuoteMeta(host)+`\b`).ReplaceAllString(output, "HOST")
	}
	for _, m := range masks {
		output = m.what.ReplaceAllString(output, m.mask)
	}
	return output
}

// taken is the status of a typed script whose Redis found its port taken.
const taken = 99

// typed is a script of bash that types what stands behind each "$ " of a session, and echoes
// it. After what is started in the background it waits until that is there.
func typed(session, port string) string {
	script := "exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\nstatus=0\n"
	for line := range strings.Lines(session) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		echo := "echo '$ " + strings.ReplaceAll(command, "'", `'\''`) + "'\n"
		before, after := waits(command, port)
		script += echo + before + "(exit $status)\n" + command + "\nstatus=$?\n" + after
	}
	return script
}

// waits are what a script waits for before a command and after it.
func waits(command, port string) (before, after string) {
	job := regexp.MustCompile(`--key (\S+) .*&$|^crontab (\S+)\.crontab$`).FindStringSubmatch(command)
	until := func(test string) string { return "until " + test + "; do sleep 0.05; done\n" }
	ask := func(what, key string) string { return "redis-cli -p " + port + " " + what + " 'redlockrun:{" + key }
	switch {
	case strings.HasPrefix(command, "redis-server "):
		alive := fmt.Sprintf("{ kill -0 $! 2>/dev/null || exit %d; }", taken)
		return "", until(alive + "; redis-cli -p " + port + ` info server 2>/dev/null | grep -q "^process_id:$!"`)
	case job == nil:
		return "", ""
	case job[1] != "": // the lock is there
		return "", until(`[ "$(` + ask("exists", job[1]) + `}')" = 1 ]`)
	}
	// cron sees by the second of its time that its directory has changed. Then a run is over.
	changes := until(`[ "$(date +%s)" -gt "$(stat -c %Y /var/spool/cron/crontabs)" ]`)
	return changes, until(`[ "$(` + ask("llen", job[2]) + `}:runs')" -ge 1 ]`)
}

// typeSession types a session that starts a Redis on port 7777, on a port that is free.
func (s *site) typeSession(session string) run {
	s.t.Helper()
	for range 20 {
		port := strconv.Itoa(10000 + rand.IntN(22000))
		r := s.run("bash", "-c", typed(strings.ReplaceAll(session, "7777", port), port))
		if r.status != taken {
			return r
		}
	}
	s.t.Fatal("no port is free")
	return run{}
}

// startsRedis are the lines that begin a session of a page that does not show them itself.
const startsRedis = "$ redis-server --port 7777 --save '' >/dev/null &\n" +
	"$ export REDLOCKRUN_REDIS=redis://127.0.0.1:7777\n"

func TestSessionsPrintWhatThePagesShow(t *testing.T) {
	for _, name := range []string{"session", "firstjob", "operators", "monitoring", "troubleshooting"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := block(t, name)
			if !strings.HasPrefix(session, "$ redis-server ") {
				session = startsRedis + session
			}
			got := newSite(t).typeSession(session)
			if want := masked(session); masked(got.stdout) != want {
				t.Errorf("got\n%s\nwant\n%s", masked(got.stdout), want)
			}
		})
	}
}
