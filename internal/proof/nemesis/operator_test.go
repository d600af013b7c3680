//go:build linux

package nemesis

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// An act is what an operator did to a job, and what came of it.
type act struct {
	what     string // pause, resume, stop, unlock
	key      string
	run      string // of stop and unlock
	number   int    // of that run
	waited   bool   // until what runs has ended
	from, to instant
	outcome
}

// An outcome is how a command of an operator ended.
type outcome struct {
	status int
	said   string // on stdout
	wrong  string // on stderr
}

// done reports whether it is known to have been done.
func (a act) done() bool { return a.status == 0 }

// unsure: nobody knows whether it was done, or is yet to be done by a server that was frozen.
func (a act) unsure() bool { return a.status == 69 }

// operate is a command of an operator, beside the servers.
func (n *nemesis) operate(words ...string) outcome {
	var said, wrong strings.Builder
	cmd := n.place.command(n.program, n.place.net.Right, append(words, "--redis-timeout", "3")...)
	cmd.Stdout, cmd.Stderr = &said, &wrong
	if err := cmd.Run(); cmd.ProcessState == nil {
		n.broken(err)
		return outcome{status: -1}
	}
	return outcome{statusOf(cmd.ProcessState), said.String(), wrong.String()}
}

// do is an act that is remembered.
func (n *nemesis) do(what, key string, s start, flags ...string) act {
	a := act{what: what, key: key, run: s.run, number: s.number, waited: slices.Contains(flags, "--wait"), from: now()}
	a.outcome = n.operate(append([]string{what, key}, flags...)...)
	a.to = now()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.acts = append(n.acts, a)
	return a
}

// pauseNowAndThen pauses a job for a moment, now and then until what runs has ended.
func (n *nemesis) pauseNowAndThen(over context.Context, draw *rand.Rand) {
	for waitBetween(over, draw, 500*time.Millisecond, 3*time.Second) {
		key := n.keys[draw.IntN(len(n.keys))]
		flags := []string{"--why", "nemesis", "--for", "forever"}
		if draw.IntN(2) == 0 {
			flags = append(flags, "--wait", "3")
		}
		n.do("pause", key, start{}, flags...)
		waitBetween(over, draw, 200*time.Millisecond, 2*time.Second)
		for !n.do("resume", key, start{}).done() && waitBetween(over, draw, 50*time.Millisecond, 100*time.Millisecond) {
		}
	}
}

// stopNowAndThen stops a run whose job runs, and does so for long enough to learn of it.
func (n *nemesis) stopNowAndThen(over context.Context, draw *rand.Rand) {
	for waitBetween(over, draw, 300*time.Millisecond, 1500*time.Millisecond) {
		long := n.long(n.journal.running())
		if len(long) == 0 {
			continue
		}
		s := long[draw.IntN(len(long))]
		n.do("stop", n.run(s.number).key, s, "--run", s.run, "--why", "nemesis", "--wait", "8")
	}
}

// unlock takes the lock from a run whose redlockrun was killed.
func (n *nemesis) unlock(s start) {
	n.do("unlock", n.run(s.number).key, s, "--run", s.run, "--why", "nemesis")
}

// isIdle reads what `status --json` says of a job.
func isIdle(text string) bool {
	var job struct{ State string }
	return json.Unmarshal([]byte(text), &job) == nil && job.State == "idle"
}
