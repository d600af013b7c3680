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
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?`), "TIME"},
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
		script += fmt.Sprintf("echo '$ %s'\n(exit $status)\n%s\nstatus=$?\n", strings.ReplaceAll(command, "'", `'\''`), command)
		key := regexp.MustCompile(`--key (\S+) .*&$`).FindStringSubmatch(command)
		switch {
		case strings.HasPrefix(command, "redis-server "):
			script += fmt.Sprintf("until redis-cli -p %s info server 2>/dev/null | grep -q \"^process_id:$!\"; do\n"+
				"kill -0 $! 2>/dev/null || exit %d; sleep 0.05; done\n", port, taken)
		case key != nil:
			script += fmt.Sprintf("until [ \"$(redis-cli -p %s exists 'redlockrun:{%s}')\" = 1 ]; do sleep 0.05; done\n", port, key[1])
		}
	}
	return script
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

func TestReadmeSessionPrintsWhatItShows(t *testing.T) {
	s := newSite(t)
	got := s.typeSession(block(t, "session"))
	if want := masked(block(t, "session")); masked(got.stdout) != want {
		t.Errorf("got\n%s\nwant\n%s", masked(got.stdout), want)
	}
}
