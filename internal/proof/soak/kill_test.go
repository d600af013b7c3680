//go:build linux

package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

const (
	killLanes = 6

	// gone is how long after its death the processes of a run may live. What counts is time in
	// which this test was let run: who sleeps and wakes here is no slower than a guard that does.
	gone = 3 * time.Second
	look = 10 * time.Millisecond

	killTTL = 2 * time.Second
)

// kills is how many runs are killed: REDLOCKRUN_KILLS of them.
func kills(t *testing.T) int {
	text := os.Getenv("REDLOCKRUN_KILLS")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// killSeed is where the moments and the victims are drawn from: REDLOCKRUN_SEED, else the clock.
func killSeed(t *testing.T) uint64 {
	text := os.Getenv("REDLOCKRUN_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// A slaughter kills runs, one process of each, and counts what it leaves.
type slaughter struct {
	t      *testing.T
	server *redistest.Server
	seed   uint64
	next   atomic.Int64

	mu     sync.Mutex
	killed map[kind]int
	none   int           // the victim was not there yet, or no more
	latest time.Duration // the longest that a process of a run was there after the death, by the clock
}

// Whoever of a run is killed at whatever moment: nothing of the run lives 3 s later, but what
// ends by itself; no guard does; and its lock is not kept for longer than its ttl.
func TestOfAKilledRunNothingIsLeft(t *testing.T) {
	k := &slaughter{t: t, server: redistest.Start(t, redistest.Options{}), seed: killSeed(t), killed: map[kind]int{}}
	n := kills(t)
	t.Logf("%d runs, seed %d", n, k.seed)
	var lanes sync.WaitGroup
	for range killLanes {
		copied := filepath.Join(t.TempDir(), "redlockrun")
		if err := os.Link(program, copied); err != nil {
			t.Fatal(err)
		}
		lanes.Go(func() {
			for i := k.next.Add(1); i <= int64(n) && !t.Failed(); i = k.next.Add(1) {
				k.run(int(i), copied)
			}
		})
	}
	lanes.Wait()
	t.Logf("killed: %v; not there: %d; the last process of a run was gone after %s at most", k.killed, k.none, k.latest.Round(look))
	if k.none > n/2 {
		t.Errorf("of %d runs, %d had no victim", n, k.none)
	}
	k.locksEnd(n)
}

// victims are whom a run loses, each as often as it stands here.
var victims = []kind{wrapper, wrapper, wrapper, command, guarded, starter}

// A doomed is one run.
type doomed struct {
	traces
	number int
	victim kind
	after  time.Duration // from the start on; then it is killed when it is there
	cmd    *exec.Cmd
	ended  chan struct{}
}

func (d doomed) String() string {
	return fmt.Sprintf("run %d (%s to be killed after %s)", d.number, d.victim, d.after)
}

// run starts one run and kills one process of it, at a moment that its number and the seed say.
func (k *slaughter) run(number int, program string) {
	draw := rand.New(rand.NewPCG(k.seed, uint64(number)))
	d := doomed{number: number, victim: victims[draw.IntN(len(victims))], ended: make(chan struct{})}
	d.traces = traces{fmt.Sprintf("REDLOCKRUN_TEST_RUN=%d-%d-%d", os.Getpid(), k.seed, number), program}
	if d.after = time.Duration(draw.ExpFloat64() * float64(12*time.Millisecond)); d.victim == starter {
		d.after = 0 // it lives for less than a millisecond
	}
	d.cmd = exec.Command(program, "-q", "-k", key(number), "--ttl", seconds(killTTL), "-c", jobs[d.victim])
	d.cmd.Env = append(environment(k.server), d.mark)
	if err := d.cmd.Start(); err != nil {
		k.t.Error(err)
		return
	}
	go func() { _ = d.cmd.Wait(); close(d.ended) }()
	<-time.After(d.after)
	k.count(d.victim, d.kill())
	if d.victim == command { // it may not have been there
		_ = d.cmd.Process.Kill()
	}
	k.left(d)
}

// jobs are what a run does whose victim is of a kind. What a command leaves when it ends is
// not covered, so that the one that is killed has no children; and without its guard a
// command has nobody who ends it in the place of its redlockrun, so that it ends by itself.
var jobs = map[kind]string{
	wrapper: "sleep 300 & sleep 300",
	command: "exec sleep 300",
	guarded: "sleep 0.3 & sleep 0.2; wait",
	starter: "sleep 0.3 & sleep 0.2; wait",
}

// kill kills the victim, once it is there.
func (d doomed) kill() bool {
	if d.victim == wrapper {
		return d.cmd.Process.Kill() == nil
	}
	var one living
	there := redistest.Until(patience, func() (ok bool) {
		one, ok = d.child(d.cmd.Process.Pid, d.victim)
		return ok || d.over()
	})
	return there && one.kind == d.victim && syscall.Kill(one.pid, syscall.SIGKILL) == nil
}

func (d doomed) over() bool {
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

func (k *slaughter) count(victim kind, hit bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if hit {
		k.killed[victim]++
	} else {
		k.none++
	}
}

// left waits until nothing of a run lives, and fails if it takes too long.
func (k *slaughter) left(d doomed) {
	if d.victim == guarded || d.victim == starter {
		if !redistest.Until(patience, d.over) { // by itself
			k.t.Errorf("seed %d, %v: it does not end", k.seed, d)
			_ = d.cmd.Process.Kill()
		}
	}
	left, after := d.remaining()
	if len(left) > 0 {
		k.t.Errorf("seed %d, %v: %s later there are %+v", k.seed, d, gone, left)
	}
	for _, one := range left {
		_ = syscall.Kill(one.pid, syscall.SIGKILL)
	}
	k.mu.Lock()
	k.latest = max(k.latest, after)
	k.mu.Unlock()
	<-d.ended
	k.lock(d.number)
}

// remaining waits until nothing of a run lives, and is what does when its time is over; and how
// long that took by the clock.
func (d doomed) remaining() (left []living, after time.Duration) {
	began := time.Now()
	for counted := time.Duration(0); ; {
		if left = d.census(); len(left) == 0 || counted > gone {
			return left, time.Since(began)
		}
		asleep := time.Now()
		<-time.After(look)
		counted += min(time.Since(asleep), 2*look)
	}
}

// lock fails if a lock can outlive its ttl.
func (k *slaughter) lock(number int) {
	reply, err := k.server.Do("PTTL", "redlockrun:{"+key(number)+"}")
	if ms, ok := reply.(int64); err != nil || !ok || ms == -1 || ms > killTTL.Milliseconds() {
		k.t.Errorf("run %d: its lock has %v ms left (%v)", number, reply, err)
	}
}

// locksEnd fails if a lock is still there after its ttl.
func (k *slaughter) locksEnd(n int) {
	for number := 1; number <= n; number++ {
		gone := redistest.Until(patience, func() bool {
			reply, err := k.server.Do("EXISTS", "redlockrun:{"+key(number)+"}")
			return err == nil && reply == int64(0)
		})
		if !gone {
			k.t.Errorf("the lock of run %d is still there", number)
		}
	}
}

func key(number int) string { return fmt.Sprint("killed-", number) }

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
