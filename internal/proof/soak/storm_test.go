//go:build linux

package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

const (
	lanes = 50
	ttl   = 5 * time.Second

	// longestGap is the most that may pass from one run to the next: a holder that
	// was killed lapses and is succeeded 5.5 s later at the latest, two frozen
	// waiters in a row cost 2 s each; the rest is for a busy machine.
	longestGap = ttl + 5500*time.Millisecond + 2*2*time.Second + 20*time.Second

	// patience is for what must come to an end.
	patience = 2 * time.Minute
)

// job writes its token, its run and its fence again and again.
const job = `for i in 1 2 3 4; do echo "$0 $REDLOCKRUN_RUN_ID $REDLOCKRUN_FENCE"; sleep 0.01; done >>"$1"`

func duration(t *testing.T) time.Duration {
	text := os.Getenv("STORM")
	if text == "" {
		return 10 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A storm is one server, many waiters and a log.
type storm struct {
	t      *testing.T
	server *redistest.Server
	log    string
	over   context.Context

	mu   sync.Mutex
	ends map[string]end // by token
}

// An end is how a waiter ended.
type end struct {
	status int
	killed bool
	stderr string
}

func TestStormOfWaiters(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := &storm{
		t: t, server: redistest.Start(t, redistest.Options{Persist: true}),
		log: filepath.Join(t.TempDir(), "log"), ends: map[string]end{},
	}
	var cancel context.CancelFunc
	s.over, cancel = context.WithTimeout(context.Background(), duration(t))
	defer cancel()
	var all sync.WaitGroup
	for lane := range lanes {
		all.Go(func() {
			for n := 0; s.over.Err() == nil; n++ {
				s.wait(fmt.Sprintf("%d.%d", lane, n))
			}
		})
	}
	all.Go(s.disturb)
	all.Wait()
	s.check()
}

// wait is one waiter's life.
func (s *storm) wait(token string) {
	limit := "60" // ends by itself, should this test be killed
	if rand.N(4) == 0 {
		limit = fmt.Sprint(rand.Float64() * 3)
	}
	var stderr strings.Builder
	cmd := exec.Command(program, "--key", "storm", "--ttl", fmt.Sprint(ttl.Seconds()), "--wait", limit, "--", "sh", "-c", job, token, s.log)
	cmd.Env = environment(s.server)
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return
	}
	var e end
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	s.strike(cmd.Process, token, done, &e)
	var exit *exec.ExitError
	if err := <-done; err != nil && !errors.As(err, &exit) {
		s.t.Error(err)
	}
	e.status, e.stderr = statusOf(cmd.ProcessState), stderr.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends[token] = e
}

// strike lets fate come to one waiter in two, after a moment.
func (s *storm) strike(p *os.Process, token string, done chan error, e *end) {
	fate := rand.N(8)
	if fate > 3 {
		return
	}
	if !during(rand.N(3*time.Second), done) {
		return
	}
	switch fate {
	case 0, 1:
		p.Signal(syscall.SIGTERM)
	case 2:
		e.killed = true
		p.Signal(syscall.SIGKILL)
	case 3:
		p.Signal(syscall.SIGSTOP)
		for range 8 {
			during(500*time.Millisecond, done)
			if strings.Contains(s.read(), token+" ") {
				break // a holder that stands still for longer loses the lock
			}
		}
		p.Signal(syscall.SIGCONT)
	}
}

// during passes a time; false: what was waited for ended before.
func during(d time.Duration, done chan error) bool {
	select {
	case err := <-done:
		done <- err
		return false
	case <-time.After(d):
		return true
	}
}

// disturb cuts connections, flushes scripts and restarts the server.
func (s *storm) disturb() {
	for n := 1; ; n++ {
		select {
		case <-s.over.Done():
			return
		case <-time.After(600 * time.Millisecond):
		}
		var err error
		switch {
		case n%8 == 0:
			err = s.server.Restart(true)
		case n%3 == 0:
			_, err = s.server.Do("CLIENT", "KILL", "TYPE", "normal")
		case n%3 == 1:
			_, err = s.server.Do("CLIENT", "KILL", "TYPE", "pubsub")
		default:
			_, err = s.server.Do("SCRIPT", "FLUSH")
		}
		if err != nil {
			s.t.Error(err)
		}
	}
}

func (s *storm) read() string {
	text, err := os.ReadFile(s.log)
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	return string(text)
}

func statusOf(state *os.ProcessState) int {
	if wait := state.Sys().(syscall.WaitStatus); wait.Signaled() {
		return 128 + int(wait.Signal())
	}
	return state.ExitCode()
}

// check holds the storm to what is promised.
func (s *storm) check() {
	ran := s.checkLog()
	count := map[int]int{}
	for token, e := range s.ends {
		count[e.status]++
		allowed := map[int]bool{0: true, 69: true, 75: true, 143: true, 76: true, 137: e.killed}
		if !allowed[e.status] {
			s.t.Errorf("%s: status %d\n%s", token, e.status, e.stderr)
		}
		if e.status == 0 && !ran[token] {
			s.t.Errorf("%s: status 0, but it did not run", token)
		}
		if (e.status == 69 || e.status == 75) && (ran[token] || e.stderr == "") {
			s.t.Errorf("%s: status %d, ran %v, said %q", token, e.status, ran[token], e.stderr)
		}
	}
	s.t.Logf("%d ended, by status %v; %d ran", len(s.ends), count, len(ran))
	if len(ran) < 10 {
		s.t.Errorf("only %d ran", len(ran))
	}
	s.checkKeys()
}

// checkLog looks that no run writes again after a later one has begun, and that
// the fences grow; the milliseconds in them show the gaps.
func (s *storm) checkLog() (ran map[string]bool) {
	ran = map[string]bool{}
	over := map[string]bool{}
	var run string
	var fence int64
	for lines := bufio.NewScanner(strings.NewReader(s.read())); lines.Scan(); {
		var token, id string
		var number int64
		if n, _ := fmt.Sscan(lines.Text(), &token, &id, &number); n != 3 {
			s.t.Fatalf("line %q", lines.Text())
		}
		if id == run {
			continue
		}
		gap := time.Duration(number-fence) * time.Millisecond
		switch {
		case over[id]:
			s.t.Errorf("run %s of %s goes on after %s has begun", id, token, run)
		case ran[token]:
			s.t.Errorf("%s ran twice", token)
		case number <= fence:
			s.t.Errorf("fence %d after %d", number, fence)
		case fence > 0 && gap > longestGap:
			s.t.Errorf("nobody ran for %s", gap)
		}
		over[run], ran[token], run, fence = true, true, id, number
	}
	return ran
}

// checkKeys waits until nothing is left but the counter. Marks against requests
// that may still be under way last up to a minute.
func (s *storm) checkKeys() {
	for deadline := time.Now().Add(patience); ; {
		var left []string
		keys, err := s.server.Do("KEYS", "*")
		if err != nil {
			s.t.Fatal(err)
		}
		for _, key := range keys.([]any) {
			pttl, err := s.server.Do("PTTL", key)
			if err != nil {
				s.t.Fatal(err)
			}
			mark := strings.Contains(key.(string), ":gone:") && pttl.(int64) > 0 && pttl.(int64) <= 60_000
			if !stays(key.(string)) && !mark && pttl != int64(-2) {
				left = append(left, fmt.Sprintf("%s (%d ms)", key, pttl))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("left: %v", left)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// stays: a key outlives its runs, as the fence and the ledger do.
func stays(key string) bool {
	return slices.Contains([]string{
		"redlockrun:{storm}:fence", "redlockrun:{storm}:job", "redlockrun:{storm}:runs", "redlockrun:{storm}:bad", "redlockrun:jobs",
	}, key)
}
