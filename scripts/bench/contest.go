//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// A contender is a command line whose runs are measured.
type contender struct {
	name string
	argv []string
	init bool // run as PID 1 of a PID namespace of its own
}

// A result is what the runs of a contender took, with each copy of the program.
type result struct {
	name string
	each []cost
}

// A cost is the median of some runs.
type cost struct {
	wall   time.Duration
	cpu    time.Duration // user and system, of the whole family of processes
	faults int64         // pages that the family touched first, without reading from a disk
}

func wall(c cost) time.Duration { return c.wall }
func cpu(c cost) time.Duration  { return c.cpu }
func faults(c cost) int64       { return c.faults }

// contest holds a contest with each copy of the program.
func (b *bench) contest(programs []string, lineUp func(program string) []contender) (results []result, err error) {
	for _, program := range programs {
		contenders := lineUp(program)
		costs, err := b.inTurn(contenders)
		if err != nil {
			return nil, err
		}
		if results == nil {
			results = make([]result, len(contenders))
		}
		for i, c := range contenders {
			results[i].name, results[i].each = c.name, append(results[i].each, costs[i])
		}
	}
	return results, nil
}

// inTurn runs each contender in turn, again and again.
func (b *bench) inTurn(contenders []contender) ([]cost, error) {
	all := make([][]cost, len(contenders))
	for round := range b.runs + b.runs/10 {
		for i, c := range contenders {
			cost, err := c.run()
			if err != nil {
				return nil, err
			}
			if round >= b.runs/10 { // the first ones warm up
				all[i] = append(all[i], cost)
			}
		}
	}
	medians := make([]cost, len(contenders))
	for i, costs := range all {
		medians[i] = cost{median(each(costs, wall)), median(each(costs, cpu)), median(each(costs, faults))}
	}
	return medians, nil
}

func (c contender) run() (cost, error) {
	cmd := command(c.argv)
	if c.init {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		}
	}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("run %s: %w", c.name, err)
	}
	took, state := time.Since(start), cmd.ProcessState
	return cost{took, state.UserTime() + state.SystemTime(), int64(state.SysUsage().(*syscall.Rusage).Minflt)}, nil
}

// command is argv as a cron job runs, with nothing around it that this user has
// set up: cron, systemd and a login all set a locale, which the programs that
// are measured beside redlockrun load.
func command(argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/", "LOGNAME=cron", "SHELL=/bin/sh", "LANG=C.UTF-8",
		"REDLOCKRUN_CONFIG=/dev/null",
	}
	cmd.Stderr = os.Stderr
	return cmd
}

// of is the median over the copies.
func of[T cmp.Ordered](r result, what func(cost) T) T { return median(each(r.each, what)) }

// times is how many times more of something r took than other beside it, the
// median over the copies.
func times(r, other result, what func(cost) time.Duration) float64 {
	return median(timesEach(r, other, what))
}

func timesEach(r, other result, what func(cost) time.Duration) (ratios []float64) {
	for i, c := range r.each {
		ratios = append(ratios, ratio(what(c), what(other.each[i])))
	}
	return ratios
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func each[A, B any](all []A, what func(A) B) (parts []B) {
	for _, a := range all {
		parts = append(parts, what(a))
	}
	return parts
}

func median[T cmp.Ordered](d []T) T {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// spread is by how much the dearest is above the cheapest, in percent.
func spread[T ~int64 | ~float64](d []T) float64 {
	return 100 * (float64(slices.Max(d))/float64(slices.Min(d)) - 1)
}
