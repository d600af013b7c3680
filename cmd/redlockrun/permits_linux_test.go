package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// Real runs contend for the permits of one key. Some are killed, frozen or terminated, the server stands still, and
// the gate is lost. The kernel's locks tell whether two commands had the same permit. REDLOCKRUN_TEST_STORM says how
// many runs each storm starts.
func TestAStormOfRunsWithPermits(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	t.Run("and gates that are lost", func(t *testing.T) {
		t.Parallel()
		newRedisPermitStorm(t, false).blow()
	})
	t.Run("and runs that are alone", func(t *testing.T) {
		t.Parallel()
		newRedisPermitStorm(t, true).blow()
	})
	t.Run("and files", func(t *testing.T) {
		t.Parallel()
		s := newPermitStorm(t, true)
		s.flags = []string{"--local=" + t.TempDir()}
		s.blow()
	})
}

const permitClients = 30

// A permitStorm is what happens to the permits of one key. Its variable marks all processes.
type permitStorm struct {
	t        *testing.T
	draw     func(int) int
	of       int
	alone    bool // some runs take all
	url      string
	flags    []string
	harm     func(ctx context.Context) // one fault of the server, which has ended when it returns
	left     func() string             // what is left of the permits; "" if nothing
	dir      string
	variable string
	tried    atomic.Int64
	counts   sync.Map // what happened: *atomic.Int64
}

func newPermitStorm(t *testing.T, alone bool) *permitStorm {
	draw, dir := locktest.Draw(t), t.TempDir()
	return &permitStorm{t: t, draw: draw, of: 2 + draw(3), alone: alone, dir: dir, variable: "STORM=" + dir,
		harm: func(ctx context.Context) { <-ctx.Done() }, left: func() string { return "" }}
}

func newRedisPermitStorm(t *testing.T, alone bool) *permitStorm {
	s, srv := newPermitStorm(t, alone), redistest.Start(t, redistest.Options{})
	s.url = srv.URL()
	s.harm = func(ctx context.Context) { s.harmServer(ctx, srv) }
	s.left = func() string { return permitsLeft(t, srv) }
	return s
}

// harmServer freezes the server, or deletes the gate. It deletes no gate of a run that is alone: that is not promised.
func (s *permitStorm) harmServer(ctx context.Context, srv *redistest.Server) {
	lock.Sleep(ctx, s.after(400))
	if !s.alone && s.draw(3) > 0 {
		s.count("gate deleted")
		srv.Do("DEL", "redlockrun:{storm}/gate")
		return
	}
	s.count("server frozen")
	srv.Signal(syscall.SIGSTOP)
	defer srv.Signal(syscall.SIGCONT)
	lock.Sleep(ctx, s.after(700))
}

// permitsLeft returns the keys that are left, but for fences, tombstones and the ledger.
func permitsLeft(t *testing.T, srv *redistest.Server) string {
	keys, err := srv.Do("KEYS", "*")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, key := range keys.([]any) {
		_, kind, _ := strings.Cut(strings.TrimPrefix(key.(string), "redlockrun:"), ":")
		kind, _, _ = strings.Cut(kind, ":")
		if key != "redlockrun:jobs" && !slices.Contains([]string{"fence", "gone", "job", "runs", "bad"}, kind) {
			left = append(left, key.(string))
		}
	}
	return strings.Join(left, " ")
}

func (s *permitStorm) after(ms int) time.Duration {
	return time.Duration(s.draw(ms)) * time.Millisecond
}

func (s *permitStorm) count(what string) {
	n, _ := s.counts.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// blow lets the clients start all runs, and then looks what is left.
func (s *permitStorm) blow() {
	runs, began := 34, time.Now()
	if n, err := strconv.Atoi(os.Getenv("REDLOCKRUN_TEST_STORM")); err == nil {
		runs = n
	}
	s.contend(int64(runs))
	until(s.t, "the end of all processes", func() bool { return !carried(s.t, s.variable) })
	s.start("--permits", strconv.Itoa(s.of), "--take", "all", "--wait", "30", "true").ends(0)
	until(s.t, "an empty server", func() bool { return s.left() == "" })
	s.check()
	s.t.Logf("%d permits in %s: %s", s.of, time.Since(began).Round(time.Millisecond), s.told())
}

func (s *permitStorm) contend(runs int64) {
	calm, cancel := context.WithCancel(context.Background())
	var weather, clients sync.WaitGroup
	weather.Go(func() {
		for calm.Err() == nil {
			s.harm(calm)
		}
	})
	for range permitClients {
		clients.Go(func() {
			for s.tried.Add(1) <= runs && !s.t.Failed() {
				s.try()
			}
		})
	}
	clients.Wait()
	cancel()
	weather.Wait()
}

func (s *permitStorm) start(args ...string) *process {
	cmd := exec.Command(binary(s.t), append(append([]string{"-k", "storm"}, s.flags...), args...)...)
	cmd.Env = []string{s.variable}
	return launchCommand(s.t, s.url, cmd)
}

// try is one run, with one fault at most.
func (s *permitStorm) try() {
	length := time.Duration(10+s.draw(90)) * time.Millisecond
	if s.draw(10) == 0 {
		length = s.after(2000) // some outlive their lease
	}
	run := s.start(append(s.claim(), "permitted", s.dir, length.String())...)
	switch s.draw(8) {
	case 0:
		s.fault(run, "killed", syscall.SIGKILL)
	case 1:
		s.fault(run, "terminated", syscall.SIGTERM)
	case 2:
		s.fault(run, "frozen", syscall.SIGSTOP)
		s.pass(run, s.after(1800))
		run.signal(syscall.SIGCONT)
	}
	run.ends(0, 69, 75, 76, 137, 143)
	s.count(fmt.Sprint("status ", statusOf(run.cmd.ProcessState)))
}

// claim is what a run wants. Some say fewer permits than there are.
func (s *permitStorm) claim() []string {
	of, take := s.of, "1"
	switch n := s.draw(10); {
	case n == 0 && s.alone:
		take = "all"
	case n < 4:
		take = strconv.Itoa(1 + s.draw(of))
	case n == 4:
		of = 2 + s.draw(s.of-1)
	}
	ttl := time.Duration(500+s.draw(500)) * time.Millisecond
	wait := []time.Duration{0, s.after(4000), 4 * time.Second, 4 * time.Second}[s.draw(4)]
	return []string{"--permits", strconv.Itoa(of), "--take", take, "--ttl", ttl.String(), "--wait", wait.String()}
}

// fault sends a signal to redlockrun alone, while it waits or while its command works.
func (s *permitStorm) fault(run *process, what string, sig syscall.Signal) {
	s.pass(run, s.after(600))
	if !run.over() {
		s.count(what)
		run.signal(sig)
	}
}

// pass lets a time pass, or the run end.
func (s *permitStorm) pass(run *process, d time.Duration) {
	select {
	case <-run.done:
	case <-time.After(d):
	}
}

// check reads what the commands wrote.
func (s *permitStorm) check() {
	if text, _ := os.ReadFile(filepath.Join(s.dir, overlaps)); len(text) > 0 {
		s.t.Errorf("two commands had one permit at a time:\n%s", text)
	}
	text, _ := os.ReadFile(filepath.Join(s.dir, "runs"))
	if len(text) == 0 {
		s.t.Error("no command ran")
	}
	for line := range strings.Lines(string(text)) {
		s.count("with " + strings.TrimSpace(line))
	}
}

func (s *permitStorm) told() string {
	var told []string
	s.counts.Range(func(what, n any) bool {
		told = append(told, fmt.Sprint(what, ": ", n.(*atomic.Int64).Load()))
		return true
	})
	slices.Sort(told)
	return strings.Join(told, ", ")
}
