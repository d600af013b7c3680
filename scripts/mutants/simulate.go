package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// simulated are the faults that worlds in virtual time could show: those of the lock, its line and
// ledger, of a quorum and of the watchdog.
func simulated() []fault {
	return slices.Concat(lineFaults, ledgerFaults, slotFaults, quorumFaults, lockFaults, watchdogFaults, pastFaults)
}

// mostSeeds is how many seeds are simulated until a fault counts as not seen: the first, which are
// always the same.
const mostSeeds = 200

// worldLimit is the time of that. A world that does not come to its end is a fault that is seen, too.
const worldLimit = "10m"

// A sight is what the simulator has seen of one fault.
type sight struct {
	fault
	seeds string // after so many; "": it was not seen
	what  string // in the referee's words
	took  time.Duration
	err   error
}

// simulate sows each fault, simulates until it is seen, and prints a table. It reports whether
// each was seen that is said to be.
func simulate(out io.Writer, faults []fault) bool {
	next, seen := make(chan fault), make(chan sight)
	var trying sync.WaitGroup
	for range 2 {
		trying.Go(func() {
			for f := range next {
				seen <- f.simulate()
			}
		})
	}
	go func() {
		for _, f := range faults {
			next <- f
		}
		close(next)
		trying.Wait()
		close(seen)
	}()
	good := true
	fmt.Fprintln(out, "| fault | where | seeds | time | what is seen |\n| --- | --- | --- | --- | --- |")
	for s := range seen {
		fmt.Fprintln(out, s)
		good = good && s.err == nil && (s.seeds != "" || unseen[s.name] != "")
	}
	return good
}

func (s sight) String() string {
	seeds, took, what := s.seeds, fmt.Sprintf("%.1f s", s.took.Seconds()), s.what
	switch {
	case s.err != nil:
		seeds, took, what = "-", "-", "NOT TRIED: "+s.err.Error()
	case seeds == "" && unseen[s.name] != "":
		seeds, took, what = "-", "-", "cannot be seen: "+unseen[s.name]
	case seeds == "":
		seeds, took, what = "-", "-", "NOT SEEN"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", s.name, strings.TrimPrefix(s.file, "internal/"), seeds, took, what)
}

// simulate builds the simulator with the fault in the program, and runs it until something is wrong.
func (f fault) simulate() (s sight) {
	s.fault = f
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		s.err = err
		return s
	}
	defer os.RemoveAll(dir)
	overlay, err := f.sow(dir)
	if err != nil {
		s.err = err
		return s
	}
	program := filepath.Join(dir, "simulation.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", program, "./internal/simulation")
	if out, err := build.CombinedOutput(); err != nil {
		s.err = fmt.Errorf("it cannot be built: %s", out)
		return s
	}
	began := time.Now()
	cmd := exec.Command(program, "-test.run=^TestSeeds$", "-test.timeout="+worldLimit, "-rough", fmt.Sprint("-seeds=", mostSeeds))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // one seed after the other
	out, err := cmd.CombinedOutput()
	s.took = time.Since(began)
	if err != nil {
		s.seeds, s.what = saidIn(string(out))
	}
	return s
}

var (
	breach = regexp.MustCompile(`seed \d+ after (\d+) seeds: ([a-z]+: .*)`)
	id     = regexp.MustCompile(`\b[0-9A-Z]{26}\b`)
)

// saidIn is what a simulation that has failed says.
func saidIn(out string) (seeds, what string) {
	if m := breach.FindStringSubmatch(out); m != nil {
		return m[1], id.ReplaceAllString(m[2], "a run")
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "panic: ") || strings.Contains(line, "is not the same") {
			return "some", strings.TrimSpace(line)
		}
	}
	return "some", "the simulation does not end as it should"
}

// pastFaults are some that the lock has had once, and others that only a whole world shows.
var pastFaults = []fault{
	{"tell nobody that it has moved up to the front", "internal/lock/line/release.lua",
		"  if waited then leave(id) end\n", "  if waited then drop(id) end\n", "", false},
	{"call a release lost whose first answer was", "internal/lock/line/release.go",
		"case done || reply.whose == ours:", "case reply.whose == ours:", "", false},
	{"take a hand-over for a whole lease", "internal/lock/line/queue.go",
		"\t\t\tw.handedOver = true\n\t\t\tcontinue\n", "\t\t\treturn w.fastEnough(w.interpret(reply, sent))\n", "", false},
	{"look at no lease when it ends", "internal/lock/line/queue.go",
		"if w.busy.Place <= frontRow && w.busy.TTL >= 0 {", "if false {", "", false},
	{"count half of the masters as a majority", "internal/lock/quorum/quorum.go",
		"return size/2 + 1 }", "return size / 2 }", "", false},
	{"let go of what is under way", "internal/lock/link/conns.go",
		"!torn && c.of.inFlight.keep(c)", "torn && c.of.inFlight.keep(c)", "", false},
}

// Why worlds do not show some faults.
const (
	noMemory    = "no server runs out of memory"
	noOperators = "nobody pauses, stops or unlocks"
	noReaders   = "nobody looks at the job"
	noRights    = "no user lacks a right"
	fewRuns     = "there are too few runs or slots"
	noPlay      = "what it costs is told nobody here: a load, a word, a moment"
)

// unseen says of faults by their names why worlds do not show them.
var unseen = map[string]string{
	"forget the last fence":                      "no two locks are given in one millisecond, and no clock stands",
	"renew by SET":                               noMemory,
	"SET in the renewal":                         noMemory,
	"keep the stop of an operator to oneself":    noOperators,
	"start under a pause":                        noOperators,
	"give a paused lock":                         noOperators,
	"heal a master without the mark of a stop":   noOperators,
	"stop whichever run a master has":            noOperators,
	"tell of a stop with each renewal":           noOperators,
	"resume what is lost":                        "nobody is suspended",
	"pass the floor of a newer release":          "all are of one release",
	"count who listens to everything":            "nobody listens to everything",
	"count who is not there against the limit":   "nobody limits how many may wait",
	"let two runs of a millisecond have one id":  noReaders,
	"believe no ledger that a run has vanished":  noReaders,
	"take failures into the mean":                noReaders,
	"send on after a refusal":                    noRights,
	"keep all runs":                              fewRuns,
	"keep every slot":                            fewRuns,
	"forget the youngest slot":                   fewRuns,
	"list the job with each run":                 noPlay,
	"all renew at once":                          noPlay,
	"take another's token for no key":            noPlay,
	"let the guard come first":                   noPlay,
	"let a panic pass":                           "nothing panics",
	"end with a try under way":                   "it is a race of threads, and the detector's to find",
	"let go of what is under way":                "the tombstone stops what comes late: two defences, and one is enough here",
	"call a release lost whose first answer was": noPlay,
	"take one's time with another's lock":        "no lock is taken from who renews it",
	"let the kill come after the lease":          "no lock vanishes from who renews it, but by a server that forgets",
	"send before the clock is asked":             "a host that sleeps would have a clock of its own",
	"count a report twice":                       noReaders,
	"enter good runs among the bad":              noReaders,
	"take oneself for dead":                      noReaders,
	"ask once and no more":                       noPlay,
	"try without a limit of its own":             noPlay,
	"forget whom a lost round had replaced":      noReaders,
	"let who did nothing use up a try":           noPlay,
	"let an ended run renew its rest":            "who has ended renews nothing",
}
