//go:build linux

package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

const (
	// contenders is how many runs there are at a time.
	contenders = 20

	// patience is for what must come to an end.
	patience = 2 * time.Minute
)

// A nemesis is one place, many runs, and what happens to them.
type nemesis struct {
	place   *place
	program string
	seed    uint64
	dir     string
	keys    []string
	journal *journal

	numbers atomic.Int64

	mu     sync.Mutex
	runs   map[int]*run
	acts   []act
	dealt  map[string]int // faults, by their name
	broke  []error        // what went wrong with the nemesis itself
	judged atomic.Bool    // there is a finding already: it may end
}

func newNemesis(t *testing.T, p *place, program string, seed uint64) *nemesis {
	t.Helper()
	n := &nemesis{
		place: p, program: program, seed: seed, dir: t.TempDir(), keys: []string{"job-a", "job-b", "job-c", "job-d"},
		runs: map[int]*run{}, dealt: map[string]int{},
	}
	var err error
	n.journal, err = openJournal(filepath.Join(n.dir, "journal"))
	must(t, err)
	t.Cleanup(func() { n.journal.file.Close() })
	return n
}

// from is a stream of numbers of its own, for what goes on beside the rest.
func (n *nemesis) from(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(n.seed, stream)) }

func (n *nemesis) enter(r *run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs[r.number] = r
}

func (n *nemesis) run(number int) *run {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.runs[number]
}

func (n *nemesis) broken(err error) {
	if err != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.broke = append(n.broke, err)
	}
}

func (n *nemesis) deal(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dealt[what]++
}

// waitBetween lets the nemesis go on for between least and most. This is the length of the
// experiment; it waits for no state.
func waitBetween(over context.Context, draw *rand.Rand, least, most time.Duration) bool {
	select {
	case <-over.Done():
		return false
	case <-time.After(least + time.Duration(draw.Int64N(int64(most-least)))):
		return true
	}
}

// contend lets runs contend under injected faults for d, undoes the faults, and returns when each run has ended.
func (n *nemesis) contend(d time.Duration) error {
	over, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	watcher, err := n.watch()
	if err != nil {
		return err
	}
	defer watcher.Wait()
	defer watcher.Process.Kill()
	read := make(chan struct{})
	reading := make(chan error, 1)
	go func() { reading <- n.journal.follow(read) }()

	var lanes, others sync.WaitGroup
	for lane := range contenders {
		lanes.Go(func() { n.startRuns(over, n.from(uint64(100+lane))) })
	}
	others.Go(func() { n.strikeStores(over, n.from(1)) })
	others.Go(func() { n.strikeRuns(over, n.from(2)) })
	others.Go(func() { n.pauseNowAndThen(over, n.from(3)) })
	others.Go(func() { n.stopNowAndThen(over, n.from(4)) })
	others.Wait()
	lanes.Wait()
	n.awaitIdle()
	close(read)
	return <-reading
}

// watch starts the watcher of the machine.
func (n *nemesis) watch() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, n.journal.path)
	cmd.Env = []string{roleVar + "=" + watchRole}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}

// startRuns starts one run after the other.
func (n *nemesis) startRuns(over context.Context, draw *rand.Rand) {
	for over.Err() == nil && !n.judged.Load() {
		r := n.draw(draw, int(n.numbers.Add(1)))
		n.live(r)
		if !r.waits || r.status != 0 {
			waitBetween(over, draw, 20*time.Millisecond, 400*time.Millisecond)
		}
	}
}

// A bag gives each of its things once before it gives one twice.
type bag[T any] struct {
	draw *rand.Rand
	all  []T
	left []int
}

func (b *bag[T]) next() T {
	if len(b.left) == 0 {
		b.left = b.draw.Perm(len(b.all))
	}
	i := b.left[0]
	b.left = b.left[1:]
	return b.all[i]
}

// strikeStores lets servers and the network suffer, one fault after the other.
func (n *nemesis) strikeStores(over context.Context, draw *rand.Rand) {
	faults := bag[storeFault]{draw: draw, all: storeFaults}
	for waitBetween(over, draw, 500*time.Millisecond, 3*time.Second) {
		f, some := faults.next(), n.place.some(draw)
		n.broken(f.strike(n.place, some))
		waitBetween(over, draw, 300*time.Millisecond,
			[]time.Duration{time.Second, 2 * time.Second, 7 * time.Second}[draw.IntN(3)])
		n.broken(f.pass(n.place, some))
		for _, s := range some {
			n.broken(s.Wait())
		}
		n.deal(f.name)
	}
}

// frozenFor is longer than any lease.
const frozenFor = 6 * time.Second

// What is done to one process of a run.
const (
	frozen       = "redlockrun frozen"
	killed       = "redlockrun killed"
	guardKilled  = "guard killed"
	jobKilled    = "command killed"
	terminated   = "redlockrun terminated"
	waiterKilled = "waiter killed"
)

// processFaults, each as often as it stands here.
var processFaults = []string{frozen, frozen, killed, killed, guardKilled, jobKilled, terminated, waiterKilled}

// strikeRuns lets one run after the other suffer: mostly one whose job runs.
func (n *nemesis) strikeRuns(over context.Context, draw *rand.Rand) {
	faults := bag[string]{draw: draw, all: processFaults}
	var asleep sync.WaitGroup
	defer asleep.Wait()
	for next := faults.next(); waitBetween(over, draw, 100*time.Millisecond, 900*time.Millisecond); {
		victim, s := n.victim(draw, next)
		if victim == nil || !n.strike(victim, s, next) {
			continue
		}
		n.deal(next)
		switch {
		case next == frozen:
			asleep.Go(func() {
				<-time.After(frozenFor)
				victim.signal(syscall.SIGCONT)
			})
		case next == killed && draw.IntN(2) == 0:
			asleep.Go(func() { n.unlock(s) })
		}
		next = faults.next()
	}
}

// victim is a run that can suffer so, and the start of its job; nil: there is none.
func (n *nemesis) victim(draw *rand.Rand, what string) (*run, start) {
	if what == waiterKilled {
		return n.waiter(draw), start{}
	}
	running := n.journal.running()
	if long := n.long(running); what == frozen || len(long) > 0 && draw.IntN(2) == 0 {
		running = long
	}
	if len(running) == 0 {
		return nil, start{}
	}
	s := running[draw.IntN(len(running))]
	return n.run(s.number), s
}

// long are the jobs that run for so long that much can come of what happens to them.
func (n *nemesis) long(running []start) []start {
	return slices.DeleteFunc(slices.Clone(running),
		func(s start) bool { return n.run(s.number).task.length < time.Second })
}

// waiter is a run whose job has not begun.
func (n *nemesis) waiter(draw *rand.Rand) *run {
	n.mu.Lock()
	defer n.mu.Unlock()
	latest := int(n.numbers.Load())
	for number := latest - draw.IntN(contenders); number > 0 && number > latest-100; number-- {
		if r := n.runs[number]; r != nil && r.waits && n.journal.last(number) == nil {
			return r
		}
	}
	return nil
}

func (n *nemesis) strike(r *run, s start, what string) bool {
	return r.strike(what, func() error {
		switch what {
		case frozen:
			return r.cmd.Process.Signal(syscall.SIGSTOP)
		case killed, waiterKilled:
			return r.cmd.Process.Kill()
		case terminated:
			return r.cmd.Process.Signal(syscall.SIGTERM)
		case jobKilled:
			return killIf(s.pid, n.journal.path)
		}
		return killChild(r.cmd.Process.Pid, "lease-guard")
	})
}

// awaitIdle waits until each run has ended, without faults and pauses.
func (n *nemesis) awaitIdle() {
	for _, key := range n.keys {
		if !redistest.Until(patience, func() bool { return n.do("resume", key, start{}).done() }) {
			n.broken(fmt.Errorf("%s cannot be resumed", key))
		}
	}
	for _, key := range n.keys {
		free := redistest.Until(patience, func() bool {
			out := n.operate("status", "--json", key)
			return out.status == 0 && isIdle(out.said)
		})
		if !free {
			n.broken(fmt.Errorf("%s is not free again:\n%s", key, n.operate("status", key).said))
		}
	}
}
