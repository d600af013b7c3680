//go:build linux

package nemesis

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

	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

const (
	killLanes = 6

	// vanishLimit is how long the processes of a run may live after the kill. Only time in which
	// this test could run counts: a guard sleeps and wakes as this test does.
	vanishLimit  = 3 * time.Second
	lookInterval = 10 * time.Millisecond

	killTTL = 2 * time.Second
)

// kills returns how many runs are killed: REDLOCKRUN_KILLS, or 60.
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

// A killer kills runs, one process of each, and counts what is left.
type killer struct {
	t      *testing.T
	server *redistest.Server
	built  string
	seed   uint64
	next   atomic.Int64

	mu     sync.Mutex
	killed map[kind]int
	none   int           // the victim was not there yet, or no more
	latest time.Duration // the longest that a process of a run was there after the death, by the clock
}

// One process of a run is killed at any moment. After 3 s nothing of the run lives, except what
// ends by itself; no guard lives; and the lock is not kept for longer than its ttl.
func TestOfAKilledRunNothingIsLeft(t *testing.T) {
	k := &killer{t: t, server: redistest.Start(t, redistest.Options{}), seed: locktest.Seed(t), killed: map[kind]int{}}
	k.built = build(t, seededFault{})
	n := kills(t)
	t.Logf("%d runs, seed %d", n, k.seed)
	var lanes sync.WaitGroup
	for range killLanes {
		copied := filepath.Join(t.TempDir(), "redlockrun")
		if err := os.Link(k.built, copied); err != nil {
			t.Fatal(err)
		}
		lanes.Go(func() {
			for i := k.next.Add(1); i <= int64(n) && !t.Failed(); i = k.next.Add(1) {
				k.run(int(i), copied)
			}
		})
	}
	lanes.Wait()
	t.Logf("killed: %v; not there: %d; the last process of a run was gone after %s at most", k.killed, k.none,
		k.latest.Round(lookInterval))
	if k.none > n/2 {
		t.Errorf("of %d runs, %d had no victim", n, k.none)
	}
	k.locksEnd(n)
}

// victims are the processes that are killed, each as often as it stands here.
var victims = []kind{wrapper, wrapper, wrapper, commanded, guarded, starter}

// A killedRun is a run that loses one process.
type killedRun struct {
	traces
	number int
	victim kind
	after  time.Duration // from the start on; then it is killed when it is there
	cmd    *exec.Cmd
	ended  chan struct{}
}

func (d killedRun) String() string {
	return fmt.Sprintf("run %d (%s to be killed after %s)", d.number, d.victim, d.after)
}

// run starts one run and kills one process of it, at a moment that its number and the seed say.
func (k *killer) run(number int, program string) {
	draw := rand.New(rand.NewPCG(k.seed, uint64(number)))
	d := killedRun{number: number, victim: victims[draw.IntN(len(victims))], ended: make(chan struct{})}
	d.traces = traces{fmt.Sprintf("REDLOCKRUN_TEST_RUN=%d-%d-%d", os.Getpid(), k.seed, number), program}
	if d.after = time.Duration(draw.ExpFloat64() * float64(12*time.Millisecond)); d.victim == starter {
		d.after = 0 // it lives for less than a millisecond
	}
	d.cmd = exec.Command(program, "-q", "-k", killedKey(number), "--ttl", fmt.Sprint(killTTL.Seconds()), "-c",
		killedCommands[d.victim])
	d.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "REDLOCKRUN_CONFIG=/dev/null",
		"REDLOCKRUN_REDIS=" + k.server.URL(), d.mark}
	if err := d.cmd.Start(); err != nil {
		k.t.Error(err)
		return
	}
	go func() { _ = d.cmd.Wait(); close(d.ended) }()
	<-time.After(d.after)
	k.count(d.victim, d.kill())
	if d.victim == commanded { // it may not have been there
		_ = d.cmd.Process.Kill()
	}
	k.left(d)
}

// killedCommands are the commands of the runs, by the victim. Nothing covers what a command
// leaves behind when it ends, so a command that is killed has no children. Without its guard
// nothing ends a command in place of its redlockrun, so it ends by itself.
var killedCommands = map[kind]string{
	wrapper:   "sleep 300 & sleep 300",
	commanded: "exec sleep 300",
	guarded:   "sleep 0.3 & sleep 0.2; wait",
	starter:   "sleep 0.3 & sleep 0.2; wait",
}

// kill kills the victim, once it is there.
func (d killedRun) kill() bool {
	if d.victim == wrapper {
		return d.cmd.Process.Kill() == nil
	}
	var one process
	there := redistest.Until(patience, func() (ok bool) {
		one, ok = d.child(d.cmd.Process.Pid, d.victim)
		return ok || d.over()
	})
	return there && one.kind == d.victim && syscall.Kill(one.pid, syscall.SIGKILL) == nil
}

func (d killedRun) over() bool {
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

func (k *killer) count(victim kind, hit bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if hit {
		k.killed[victim]++
	} else {
		k.none++
	}
}

// left waits until nothing of a run lives, and fails if it takes too long.
func (k *killer) left(d killedRun) {
	if d.victim == guarded || d.victim == starter {
		if !redistest.Until(patience, d.over) { // by itself
			k.t.Errorf("seed %d, %v: it does not end", k.seed, d)
			_ = d.cmd.Process.Kill()
		}
	}
	left, after := d.remaining()
	if len(left) > 0 {
		k.t.Errorf("seed %d, %v: %s later there are %+v", k.seed, d, vanishLimit, left)
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

// remaining waits until nothing of a run lives. It returns what still lives when the time is
// over, and how long it waited by the clock.
func (d killedRun) remaining() (left []process, after time.Duration) {
	began := time.Now()
	for counted := time.Duration(0); ; {
		if left = d.census(); len(left) == 0 || counted > vanishLimit {
			return left, time.Since(began)
		}
		asleep := time.Now()
		<-time.After(lookInterval)
		counted += min(time.Since(asleep), 2*lookInterval)
	}
}

// lock fails if a lock can outlive its ttl.
func (k *killer) lock(number int) {
	reply, err := k.server.Do("PTTL", "redlockrun:{"+killedKey(number)+"}")
	if ms, ok := reply.(int64); err != nil || !ok || ms == -1 || ms > killTTL.Milliseconds() {
		k.t.Errorf("run %d: its lock has %v ms left (%v)", number, reply, err)
	}
}

// locksEnd fails if a lock is still there after its ttl.
func (k *killer) locksEnd(n int) {
	for number := 1; number <= n; number++ {
		ended := redistest.Until(patience, func() bool {
			reply, err := k.server.Do("EXISTS", "redlockrun:{"+killedKey(number)+"}")
			return err == nil && reply == int64(0)
		})
		if !ended {
			k.t.Errorf("the lock of run %d is still there", number)
		}
	}
}

func killedKey(number int) string { return fmt.Sprint("killed-", number) }
