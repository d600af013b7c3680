//go:build linux

// Lostupdates lets the jobs of several hosts change a file and a table, one at a time under
// a lock, while all goes wrong that can, and counts the updates that were acknowledged and
// are not there afterwards: under redlockrun, and under what people use instead.
//
// An update is acknowledged if the job has written it and ended with 0, and so has whoever
// held the lock for it. It is lost if the file or the table does not have it when all jobs
// have ended: somebody wrote who had read before it.
//
// Each round is one fault, on data of its own, and begins and ends in peace. What the round
// waits for are jobs that get through, never the clock: a slow machine makes it longer and
// not poorer. If the machine itself stood still (see lateness), no lock that is kept on
// another host could have been kept; such a round is counted outside of the assumptions, and
// another is run in its place.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A plan is what was asked for.
type plan struct {
	seed     uint64
	times    int // rounds of each fault
	together int // rows at a time
	rows     []row
	faults   []fault
	short    bool // no figure but the verdict counts, and a machine that is always late is no reason to fail
	file     string
	earlier  string
}

func main() {
	p, err := asked()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lostupdates:", err)
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	err = p.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lostupdates:", err)
		os.Exit(1)
	}
}

func asked() (*plan, error) {
	p := &plan{}
	flag.Uint64Var(&p.seed, "seed", uint64(time.Now().UnixNano()), "what the faults' moments are drawn from")
	flag.IntVar(&p.times, "times", 2, "rounds of each fault")
	flag.IntVar(&p.together, "together", 3, "rows at a time: more of them slow the machine down")
	flag.BoolVar(&p.short, "short", false, "three rows, each fault once: whether it still holds, not how often")
	flag.StringVar(&p.file, "write", "", "put the table into this file, between its marks")
	flag.StringVar(&p.earlier, "with", "",
		"count the outcomes in this file, too, and add to it: for a machine that has minutes at a time")
	names := flag.String("faults", "", "these faults alone, separated by commas")
	flag.Parse()
	if p.short {
		p.times, p.together = 1, 4
	}
	var err error
	p.rows, err = pick(rows(), flag.Args(), func(r row) (string, bool) { return r.name, !p.short || r.brief })
	if err != nil {
		return nil, err
	}
	wanted := strings.FieldsFunc(*names, func(r rune) bool { return r == ',' })
	p.faults, err = pick(faults(), wanted, func(f fault) (string, bool) { return f.name, !p.short || f.brief })
	return p, err
}

// pick chooses by name, or if no name is given those that are for everybody.
func pick[T any](all []T, names []string, what func(T) (name string, always bool)) (picked []T, err error) {
	var known []string
	for _, one := range all {
		name, always := what(one)
		known = append(known, name)
		if slices.Contains(names, name) || len(names) == 0 && always {
			picked = append(picked, one)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			err = errors.Join(err, fmt.Errorf("there is no %q among %q", name, known))
		}
	}
	return picked, err
}

func (p *plan) run(ctx context.Context) error {
	began := time.Now()
	dir, err := os.MkdirTemp("", "lostupdates")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tools, err := build(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "lostupdates: seed %d, %d rows, %d rounds of each fault\n", p.seed, len(p.rows), p.times)
	late := watch(ctx)
	tallies, err := p.inLanes(ctx, func(ctx context.Context, i int) (*tally, error) {
		l := &lane{plan: p, row: p.rows[i], dir: filepath.Join(dir, p.rows[i].name), tools: tools, late: late}
		return l.run(ctx)
	})
	if err != nil {
		return err
	}
	if p.earlier != "" {
		if tallies, err = kept(p.earlier, tallies[0].cables); err != nil {
			return err
		}
	}
	text := table(tallies)
	fmt.Printf("%s\n%s\nseed %d, %s\n", text, late, p.seed, time.Since(began).Round(time.Second))
	if err := judge(tallies, p); err != nil {
		return err
	}
	if p.file == "" {
		return nil
	}
	return part.Write(p.file, func(string) string { return text })
}

// inLanes calls do for each row, some at a time; the first error ends all.
func (p *plan) inLanes(ctx context.Context, do func(context.Context, int) (*tally, error)) ([]*tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tallies, failed := make([]*tally, len(p.rows)), make([]error, len(p.rows))
	free, over := make(chan struct{}, max(1, p.together)), make(chan int)
	for i := range p.rows {
		go func() {
			defer func() { over <- i }()
			free <- struct{}{}
			defer func() { <-free }()
			if ctx.Err() == nil {
				tallies[i], failed[i] = do(ctx, i)
			}
		}()
	}
	var err error
	for range p.rows {
		if i := <-over; failed[i] != nil && err == nil {
			err = fmt.Errorf("%s: %w", p.rows[i].name, failed[i])
			cancel()
		}
	}
	return tallies, errors.Join(err, context.Cause(ctx))
}

// kill sends SIGKILL to processes that may have ended.
func kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
