package simulation

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seeds  = flag.Int("seeds", 24, "simulate so many seeds")
	fixed  = flag.Int("fixed", 200, "so many of them are always the same, from 0 on")
	first  = flag.Uint64("first", 0, "the first of the others")
	during = flag.Duration("during", 0, "simulate seeds for so long, in place of a number")
	replay = flag.String("replay", "", "SEED [CHOICE]: simulate that, and print its history")
	rough  = flag.Bool("rough", false, "say what is wrong as soon as something is, and shrink nothing")
	digest = flag.Bool("digests", false, "print the digest of each seed, and check nothing")
)

// twice: one seed of so many is simulated twice, and in another process.
const twice = 20

// A tally is what has come of many seeds.
type tally struct {
	t     *testing.T
	began time.Time
	next  atomic.Uint64

	mu      sync.Mutex
	seeds   int
	events  int
	steps   int
	hours   float64
	digests map[uint64]string // of those that are simulated twice
	failed  bool
	said    time.Time
}

func (y *tally) String() string {
	took := time.Since(y.began)
	return fmt.Sprintf("%d seeds, %d events, %d steps of servers, %.0f simulated hours in %s: %.0f seeds, %.0f "+
		"events, %.1f hours a second",
		y.seeds, y.events, y.steps, y.hours, took.Round(time.Second/10), float64(y.seeds)/took.Seconds(),
		float64(y.events)/took.Seconds(),
		y.hours/took.Seconds())
}

// over reports whether n seeds are enough.
func (y *tally) over(n uint64) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if *during > 0 {
		return y.failed || time.Since(y.began) > *during
	}
	return y.failed || n >= uint64(*seeds)
}

// work simulates one seed after the other.
func (y *tally) work(t *testing.T) {
	for {
		n := y.next.Add(1) - 1
		if y.over(n) {
			return
		}
		seed := n
		if n >= uint64(*fixed) {
			seed += *first
		}
		v := y.world(t, seed)
		y.add(v)
		if len(v.wrong) > 0 {
			y.fail(t, v)
		} else if seed%twice == 0 {
			if again := simulate(t, seed, choice{}, false); again.digest != v.digest {
				t.Errorf("seed %d is not the same twice: %s, %s", seed, v.digest, again.digest)
			}
		}
	}
}

// worldLimit is the time of one world that is simulated roughly, as it is with a fault in the program.
const worldLimit = time.Minute

// world simulates a seed. If it is done roughly, it says which it is at, and ends the process if the world does not.
func (y *tally) world(t *testing.T, seed uint64) verdict {
	if *rough {
		fmt.Println("world", y.seeds+1)
		defer time.AfterFunc(worldLimit, func() {
			fmt.Printf("seed %d after %d seeds: end: the world does not come to its end\n", seed, y.seeds+1)
			os.Exit(1)
		}).Stop()
	}
	return simulate(t, seed, choice{}, false)
}

// sayEvery is how often a long run says how far it is.
const sayEvery = 30 * time.Second

func (y *tally) add(v verdict) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.seeds++
	y.events += v.events
	y.steps += v.steps
	y.hours += v.lasted.Hours()
	if v.seed%twice == 0 {
		y.digests[v.seed] = v.digest
	}
	if *digest {
		fmt.Println(v.seed, v.digest)
	}
	if now := time.Now(); now.Sub(y.said) > sayEvery {
		y.said = now
		fmt.Println(y)
	}
}

func (y *tally) fail(t *testing.T, v verdict) {
	y.mu.Lock()
	again := y.failed
	y.failed = true
	y.mu.Unlock()
	if again && *rough {
		return
	}
	t.Errorf("seed %d after %d seeds: %s", v.seed, y.seeds, v.wrong[0])
	if *rough {
		return
	}
	small := shrink(t, v)
	t.Errorf("the same with less: %s\n%s\nto see it again: scripts/simulate.sh replay %d '%s'",
		small.wrong[0], small.history, small.seed, small.choice)
}

// TestSeeds: no seed has a world in which something is that must not be, and each happens
// again as it was.
func TestSeeds(t *testing.T) {
	y := &tally{t: t, began: time.Now(), said: time.Now(), digests: make(map[uint64]string)}
	t.Run("all", func(t *testing.T) {
		for n := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				y.work(t)
			})
		}
	})
	if *digest {
		return
	}
	if !*rough {
		y.compare(t)
	}
	fmt.Println(y)
}

// compare has another process simulate the seeds of digests.
func (y *tally) compare(t *testing.T) {
	for seed, want := range y.digests {
		if t.Failed() {
			return
		}
		if len(y.digests) > mostElsewhere && seed%(twice*uint64(len(y.digests)/mostElsewhere)) != 0 {
			continue
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestSeeds$", "-digests", "-seeds=1", "-fixed=0",
			fmt.Sprint("-first=", seed))
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("seed %d in another process: %v\n%s", seed, err, out)
		}
		if got := digestIn(out, seed); got != want {
			t.Errorf("seed %d is not the same in another process: %s, %s", seed, want, got)
		}
	}
}

// mostElsewhere bounds how many seeds other processes simulate.
const mostElsewhere = 200

func digestIn(out []byte, seed uint64) string {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if found, ok := strings.CutPrefix(lines.Text(), fmt.Sprint(seed, " ")); ok {
			return found
		}
	}
	return "none"
}

// TestReplay prints what happens in one world.
func TestReplay(t *testing.T) {
	if *replay == "" {
		t.Skip("no seed is to be replayed")
	}
	number, rest, _ := strings.Cut(*replay, " ")
	var seed uint64
	if _, err := fmt.Sscan(number, &seed); err != nil {
		t.Fatal(err)
	}
	c := choiceOf(rest)
	fmt.Println(c.apply(planOf(seed)))
	v := simulate(t, seed, c, true)
	fmt.Println(v.history)
	for _, text := range v.wrong {
		t.Error(text)
	}
}
