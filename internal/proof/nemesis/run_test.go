//go:build linux

package nemesis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A run is one redlockrun, from its start to its end.
type run struct {
	number int
	key    string
	solo   bool // nobody else wants this key
	waits  bool
	slots  bool // it is for a slot
	ignore bool // pauses
	left   bool // its host can be cut off
	ttl    time.Duration
	flags  []string
	task   task

	cmd      *exec.Cmd
	launched instant
	exited   instant
	status   int
	said     string // on stderr
	report   account

	mu     sync.Mutex
	struck []string // by what
	over   bool
}

// An account is what redlockrun says in its report file. All of it is empty if there is none.
type account struct {
	Run    string `json:"run"`
	Slot   string `json:"slot"`
	How    string `json:"how"`
	From   string `json:"from"`
	Reason string `json:"reason"`
}

// leastTTL is that of the runs whose guard has the least time.
const leastTTL = 4 * time.Second

// tick is how long a slot lasts that is named by --once.
const tick = 4 * time.Second

// draw draws a run: what it wants, and what its job does.
func (n *nemesis) draw(draw *rand.Rand, number int) *run {
	r := &run{
		number: number, key: n.keys[draw.IntN(len(n.keys))], left: draw.IntN(2) == 0,
		ttl: leastTTL + time.Duration(draw.IntN(3))*500*time.Millisecond,
	}
	r.task = task{
		log: n.journal.path, number: number, codes: "0", ignoresTERM: draw.IntN(6) == 0,
		length: 20*time.Millisecond + time.Duration(draw.IntN(200))*time.Millisecond,
	}
	if draw.IntN(6) == 0 { // long enough to be renewed, and to be met by what happens
		r.task.length = time.Second + time.Duration(draw.IntN(6000))*time.Millisecond
		if draw.IntN(5) == 0 {
			r.task.length += 5 * time.Second
		}
	}
	wait := 2 + draw.Float64()*18
	switch draw.IntN(20) {
	case 0, 1, 2, 3: // at once or not at all
		wait = 0
	case 4, 5, 6, 7: // at most once in a slot
		r.slots, r.key = true, n.keys[draw.IntN(2)]
		r.flags = append(r.flags, "--once", fmt.Sprint("tick-", int64(now())/int64(tick)))
		wait = min(wait, 10)
	case 8, 9:
		r.slots, r.key = true, n.keys[draw.IntN(2)]
		r.flags = append(r.flags, "--once-per", "5s", "--tries", "3")
		wait = float64(draw.IntN(5))
	case 10, 11: // fails, and is started again under the same lock
		r.flags = append(r.flags, "--attempts", "3", "--attempt-delay", "0.05")
		r.task.codes = []string{"3,0", "3,3,0", "3"}[draw.IntN(3)]
	case 12:
		r.task.codes = "3"
	case 13:
		r.ignore = true
		r.flags = append(r.flags, "--ignore-pause")
	case 14, 15: // alone
		r.solo, r.key = true, fmt.Sprint("solo-", number)
		wait = []float64{0, 3}[draw.IntN(2)]
	}
	r.waits = wait > 0
	r.task.witness = n.dir + "/witness-" + r.key
	r.flags = append(r.flags, "--wait", fmt.Sprintf("%.1f", wait))
	return r
}

// live runs a run from its start to its end.
func (n *nemesis) live(r *run) {
	self, err := os.Executable()
	if err != nil {
		n.broken(err)
		return
	}
	report := fmt.Sprintf("%s/report-%d", n.dir, r.number)
	args := slices.Concat([]string{"-k", r.key, "--ttl", fmt.Sprint(r.ttl.Seconds()), "--redis-timeout", "3",
		"--report-file", report},
		n.place.flags, r.flags, []string{"--", self}, r.task.words())
	on := n.place.net.Right
	if r.left {
		on = n.place.net.Left
	}
	var stderr strings.Builder
	r.cmd = n.place.command(n.program, on, args...)
	r.cmd.Stderr = &stderr
	r.launched = now()
	if err := r.cmd.Start(); err != nil {
		n.broken(err)
		return
	}
	n.enter(r)
	err = r.cmd.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exited, r.over = now(), true
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		n.broken(err)
	}
	r.status, r.said = statusOf(r.cmd.ProcessState), stderr.String()
	if text, err := os.ReadFile(report); err == nil {
		if err := json.Unmarshal(text, &r.report); err != nil {
			n.broken(fmt.Errorf("report of run %d: %w", r.number, err))
		}
		_ = os.Remove(report)
	}
}

func statusOf(state *os.ProcessState) int {
	if wait := state.Sys().(syscall.WaitStatus); wait.Signaled() {
		return 128 + int(wait.Signal())
	}
	return state.ExitCode()
}

// strike notes what is done to a run, and does it, unless the run is over. A run is struck once:
// nobody covers for a guard and its redlockrun that fail together.
func (r *run) strike(what string, do func() error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || len(r.struck) > 0 || do() != nil {
		return false
	}
	r.struck = append(r.struck, what)
	return true
}

// signal reaches redlockrun alone, if it is not over.
func (r *run) signal(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		_ = r.cmd.Process.Signal(sig)
	}
}

func (r *run) was(what string) bool {
	return slices.Contains(r.struck, what)
}

func (r *run) String() string {
	return fmt.Sprintf("run %d of %s (%s, ttl %s, %v, struck by %q)", r.number, r.key, r.report.Run, r.ttl, r.flags,
		r.struck)
}
