package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/seeded"
)

// A fault is a text of the program with something wrong in it.
type fault struct {
	name string // what is wrong
	file string
	old  string // once in file
	new  string
	test string // the package and the pattern of the tests that must find it: "internal/lock TestTimes"
	race bool   // only the race detector finds it
}

const (
	// limit is the time of the tests of one fault. One that hangs is found, too.
	limit = "60s"

	// patience is the time of the same tests without a fault: a machine that is busy with
	// other things makes nobody wrong.
	patience = "10m"
)

// workers is how many faults are tried at a time: most of their tests wait.
const workers = 3

// A gate tries faults.
type gate struct {
	out io.Writer

	mu    sync.Mutex
	sound map[string]*soundness
	wrong []string
}

// A soundness is whether tests pass without a fault. They are run once.
type soundness struct {
	once sync.Once
	err  error
}

// run tries them all, and reports whether each is found.
func (g *gate) run(faults []fault) bool {
	g.sound = make(map[string]*soundness)
	began := time.Now()
	next := make(chan fault)
	var trying sync.WaitGroup
	for range workers {
		trying.Go(func() {
			for f := range next {
				g.report(f, g.try(f))
			}
		})
	}
	for _, f := range faults {
		next <- f
	}
	close(next)
	trying.Wait()
	fmt.Fprintf(g.out, "%d faults, %d found, in %s\n", len(faults), len(faults)-len(g.wrong),
		time.Since(began).Round(time.Second))
	for _, text := range g.wrong {
		fmt.Fprintln(g.out, text)
	}
	return len(g.wrong) == 0 && len(faults) > 0
}

func (g *gate) report(f fault, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	word := "found"
	if err != nil {
		word = "NOT FOUND"
		g.wrong = append(g.wrong, fmt.Sprintf("%s: %s (%s): %v", f.file, f.name, f.test, err))
	}
	fmt.Fprintf(g.out, "%-9s  %s: %s\n", word, f.file, f.name)
}

// try is nil if the tests pass without the fault and fail with it.
func (g *gate) try(f fault) error {
	if err := g.passes(f); err != nil {
		return fmt.Errorf("without the fault: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := f.overlay(dir)
	if err != nil {
		return err
	}
	cmd := f.command(limit, "-count=1")
	// for the programs that tests build, too
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case err == nil:
		return fmt.Errorf("the tests pass with the fault")
	case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
		return fmt.Errorf("it cannot be built: %s", text)
	case !strings.Contains(text, "--- FAIL: ") && !strings.Contains(text, "panic: ") &&
		!strings.Contains(text, "DATA RACE"):
		return fmt.Errorf("the tests did not end as tests do: %s", text)
	}
	return nil
}

// passes runs the tests of a fault without it.
func (g *gate) passes(f fault) error {
	g.mu.Lock()
	s := g.sound[f.test]
	if s == nil {
		s = new(soundness)
		g.sound[f.test] = s
	}
	g.mu.Unlock()
	s.once.Do(func() {
		out, err := f.command(patience, "-v").CombinedOutput()
		switch text := string(out); {
		case err != nil:
			s.err = fmt.Errorf("%w\n%s", err, text)
		case !strings.Contains(text, "--- PASS: "):
			s.err = fmt.Errorf("no test is run, or all are skipped")
		}
	})
	return s.err
}

func (f fault) command(limit string, args ...string) *exec.Cmd {
	dir, pattern, _ := strings.Cut(f.test, " ")
	args = append([]string{"go", "test", "-vet=off", "-timeout", limit, "-run", seeded.Tests(pattern)}, args...)
	if f.race {
		args = append(args, "-race")
	}
	args = ability.Apart(append(args, "./"+dir)...) // a guard that ignores everything would run for ever
	return exec.Command(args[0], args[1:]...)
}

// overlay writes the fault into dir, and returns the overlay that puts it into the program.
func (f fault) overlay(dir string) (overlay string, err error) {
	return seeded.Overlay(dir, ".", seeded.Edit{File: f.file, Old: f.old, New: f.new})
}
