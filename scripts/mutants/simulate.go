package main

import (
	"context"
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

const (
	// mostSeeds is how many seeds are simulated until a fault counts as not seen: the first, which are
	// always the same.
	mostSeeds = 3000

	// vainSeeds is the same for those that are said not to be seen: one that is makes the reason a lie.
	vainSeeds = 200

	// worldsLimit is the time of all of them; a world that does not come to its end says so itself.
	worldsLimit = 15 * time.Minute
)

// An observation is what the simulator has seen of one fault.
type observation struct {
	fault
	seeds string // after so many; "": it was not seen
	what  string // in the referee's words
	took  time.Duration
	err   error
}

// simulate puts in each fault, simulates until it is seen, prints the observation and passes it on. It
// reports whether exactly those were seen that are not listed in unseen.
func simulate(out io.Writer, faults []fault, keep func(observation) error) (good bool) {
	next, seen := make(chan fault), make(chan observation)
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
	good = len(faults) > 0
	tried := 0
	for s := range seen {
		tried++
		fmt.Fprintf(out, "%d of %d: %s\n", tried, len(faults), s)
		if err := keep(s); err != nil {
			fmt.Fprintln(out, err)
			good = false
		}
		unexpected := (s.seeds == "") != (unseen[s.name] != "")
		good = good && s.err == nil && !unexpected
	}
	return good
}

func (s observation) String() string {
	result := fmt.Sprintf("%s seeds, %.1f s: %s", s.seeds, s.took.Seconds(), s.what)
	switch why := unseen[s.name]; {
	case s.err != nil:
		result = "NOT TRIED: " + s.err.Error()
	case s.seeds == "" && why != "":
		result = "cannot be seen: " + why
	case s.seeds == "":
		result = fmt.Sprintf("NOT SEEN, %.1f s", s.took.Seconds())
	case why != "":
		result = "SEEN, and is said not to be (" + why + "): " + result
	}
	return s.where() + ": " + s.name + ": " + result
}

// where is the file of a fault, as it is told.
func (f fault) where() string { return strings.TrimPrefix(f.file, "internal/") }

// simulate builds the simulator with the fault in the program, and runs it until something is wrong.
func (f fault) simulate() (s observation) {
	s.fault = f
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		s.err = err
		return s
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "simulation.test")
	if s.err = f.build(dir, program); s.err != nil {
		return s
	}
	most := mostSeeds
	if unseen[f.name] != "" {
		most = vainSeeds
	}
	began := time.Now()
	s.run(program, fmt.Sprint("-seeds=", most))
	if seed := rare[f.name]; seed != 0 && s.err == nil && s.seeds == "" {
		s.run(program, "-fixed=0", fmt.Sprint("-first=", seed), "-seeds=1")
		if s.seeds != "" {
			s.seeds = fmt.Sprintf("not in %d, but %d", most, seed)
		}
	}
	s.took = time.Since(began)
	return s
}

// run has a simulator do what it is told, and notes what it has seen.
func (s *observation) run(program string, args ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), worldsLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program,
		append([]string{"-test.run=^TestSeeds$", "-test.timeout=24h", "-rough"}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // one seed after the other
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		s.err = fmt.Errorf("%s: it takes more than %s", strings.Join(args, " "), worldsLimit)
	case err != nil:
		s.seeds, s.what = saidIn(string(out))
	}
}

// build makes a simulator of the program with the fault.
func (f fault) build(dir, program string) error {
	overlay, err := f.overlay(dir)
	if err != nil {
		return err
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", program,
		"./internal/proof/simulation")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("it cannot be built: %s", out)
	}
	return nil
}

var (
	breach  = regexp.MustCompile(`seed \d+ after (\d+) seeds: ([a-z]+: .*)`)
	worlds  = regexp.MustCompile(`(?m)^world (\d+)$`)
	id      = regexp.MustCompile(`\b[0-9A-Z]{26}\b`)
	decimal = regexp.MustCompile(`(\d\.\d)\d*(ms|s|µs)`)
)

// saidIn is what a simulation that has failed says.
func saidIn(out string) (seeds, what string) {
	if m := breach.FindStringSubmatch(out); m != nil {
		return m[1], tidy(m[2])
	}
	seeds, what = "1", "the simulation does not end as it should"
	if all := worlds.FindAllStringSubmatch(out, -1); len(all) > 0 {
		seeds = all[len(all)-1][1]
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "panic: ") || strings.Contains(line, "is not the same") {
			return seeds, tidy(strings.TrimSpace(line))
		}
	}
	return seeds, what
}

// tidy leaves out of the referee's words what matters to nobody who does not replay the seed.
func tidy(what string) string {
	what = id.ReplaceAllString(what, "a run")
	what = decimal.ReplaceAllString(what, "$1 $2")
	return strings.ReplaceAll(what, "|", "/")
}

// Why worlds do not show some faults.
const (
	noPlay = "it costs commands, or a load at one moment, and changes no result"
)

// rare are seeds of which it is known that they show a fault, by its name, that the first ones do not.
var rare = map[string]uint64{
	"let who gets the lock have looked at nothing":    63000011676,
	"take the last millisecond of a lease for no end": 67000004610,
	"announce a hand-over as two seconds long":        64000005230,
}

// untried are the faults, by their names, that no world has been tried with yet. A test of each finds it.
var untried = []string{
	"take the lock without the right to renew it",
	"copy a strange pause into the lock",
	"leave a paused job unlisted",
	"say with each look that a waiter has just come",
	"look no more after a confirmation without an answer",
	"forget the node that a waiter was sent to",
	"doubt no change whose answer was lost",
	"list a job that was lost only the next day",
	"let a late end clear the run that has begun since",
	"take a master without the right to renew there",
	"keep at one master a pause that has ended",
	"count on a pause that has ended",
}

// unseen says of faults by their names why worlds do not show them.
var unseen = map[string]string{
	"resume what is lost":        "nobody is suspended",
	"list the job with each run": noPlay,
	"all renew at once":          noPlay,
	"let a panic pass":           "nothing panics",
	"let go of what is under way": "the tombstone stops what comes late: two defences, and " +
		"one is enough here",
	"let an ended run renew its rest":   "who has ended renews nothing",
	"let the kill come after the lease": "only after a sleep the grace ends after the lease",
	"heal without a majority":           "it keeps others waiting, and nobody has the lock twice",
	"count a healing that comes too late": "the watchdog renews nothing after the end of a lease: two " +
		"defences",
	"renew what an older term has": "what it renews is its run's all the same, unless an undo " +
		"is later still",
	"drop the ownership check of the fence":    "hosts have one clock: masters' counters hardly differ",
	"believe one master that a try has failed": "it takes two lost rounds of two runs of one slot",
	"renew too late for two tries": "it takes an old lease, times that just fit and a renewal " +
		"that is lost",
	"take another's token for no key": "it matters only how long a command has to end, with a ttl " +
		"of a minute",
	"use a lease that took too long":                     "such a lease is renewed before the start: two defences",
	"look at no clock after the pause between two tries": "a host that sleeps would have a clock of its own",
	"leave a fresh lease at a bare majority":             "a bare majority is one, unless clocks are set",
	"ask on after a final answer":                        "no user lacks a right that the lock needs",
	"take no refusal of a release for final":             "no user lacks a right that the lock needs",
	"take any word for the id of a run":                  "nobody writes into a slot what is no try",
	"repair a master without the mark of a stop": "whichever master of a majority tells of the stop is " +
		"believed: two defences",
	"forget whom a lost round had replaced": "it takes lost rounds at most masters just after a holder " +
		"has died",
}
