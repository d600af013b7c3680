package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

// Stores behind proxies, by what --redis takes.
var proxied = map[string]int{"one server": 1, "quorum": 3}

func startProxied(t *testing.T, n int) (urls string, proxies []*redistest.Proxy) {
	t.Helper()
	var all []string
	for range n {
		p := redistest.NewProxy(t, redistest.Start(t, redistest.Options{}))
		all, proxies = append(all, p.URL()), append(proxies, p)
	}
	return strings.Join(all, " "), proxies
}

// A caller types commands.
type caller struct {
	t       *testing.T
	urls    string
	proxies []*redistest.Proxy
}

// types runs a command that loses so many replies, and returns what it says.
func (d caller) types(lost, status int, args ...string) string {
	d.t.Helper()
	for _, p := range d.proxies {
		for range lost {
			p.LoseReply("enter_act(") // of the change, and not of the reading before it
		}
	}
	cmd := exec.Command(binary(d.t), append(args, "--redis-timeout", "1")...)
	var out strings.Builder
	cmd.Stdout = &out
	p := launchCommand(d.t, d.urls, cmd)
	p.ends(status)
	return out.String() + p.stderr()
}

// says checks what was said.
func says(t *testing.T, said string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(said, text) {
			t.Errorf("no %q in %q", text, said)
		}
	}
	if strings.Contains(said, "paused by  ") || strings.Contains(said, `which was ""`) {
		t.Errorf("told what nobody knows: %q", said)
	}
}

// A change whose answer was lost is reported as unconfirmed.
func TestAChangeWhoseAnswerWasLostIsReportedAsUnconfirmed(t *testing.T) {
	t.Parallel()
	for store, n := range proxied {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			urls, proxies := startProxied(t, n)
			d := caller{t, urls, proxies}
			says(t, d.types(1, 0, "pause", "lr"), `paused "lr" until `)
			says(t, d.types(1, 0, "resume", "lr"),
				`"lr" is not paused; an answer was lost: `+
					`redlockrun history lr shows whether this command ended a pause`)
			says(t, d.types(0, 0, "history", "lr"), "resume")
			run := filepath.Join(t.TempDir(), "run")
			job := launch(t, urls, "-k", "lr", "--durable", "--ttl", "1h", "sh", "-c",
				`echo $REDLOCKRUN_RUN_ID >$0.new; mv $0.new $0; exec sleep 1000`, run)
			until(t, "the run to begin", func() bool { return exists(run) })
			id, err := os.ReadFile(run)
			if err != nil {
				t.Fatal(err)
			}
			said := d.types(1, 0, "unlock", "lr", "--run", strings.TrimSpace(string(id)), "--force")
			says(t, said, `the lock of "lr" has changed; an answer was lost: `+
				`redlockrun history lr shows whether this command freed it`,
				"until then two can run")
			job.kill()
			for _, p := range proxies {
				p.LoseReply("call('DEL', job, runs, bad, slots")
			}
			says(t, d.types(0, 0, "forget", "lr"), `nothing is recorded of "lr"; an answer was lost`)
		})
	}
}

// A change that gets no answer at all may have been made.
func TestAChangeThatGetsNoAnswerMayHaveBeenMade(t *testing.T) {
	t.Parallel()
	for store, n := range proxied {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			urls, proxies := startProxied(t, n)
			d := caller{t, urls, proxies}
			const hint = "redlockrun: hint: it may have worked anyway: check with redlockrun status lr\n"
			says(t, d.types(100, 69, "pause", "lr"), "error: cannot ask Redis at ", hint)
			for _, p := range proxies {
				p.Close()
			}
			if said := d.types(0, 69, "resume", "lr"); strings.Contains(said, "may have worked") {
				t.Errorf("nobody can have heard of it: %s", said)
			}
		})
	}
}
