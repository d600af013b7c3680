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

// A result is what the runs of a contender took, as medians.
type result struct {
	name string
	wall time.Duration
	cpu  time.Duration // user and system, of the whole family of processes
}

// contest runs each contender in turn, again and again.
func (b *bench) contest(contenders ...contender) ([]result, error) {
	walls, cpus := make([][]time.Duration, len(contenders)), make([][]time.Duration, len(contenders))
	for round := range b.runs + b.runs/10 {
		for i, c := range contenders {
			wall, cpu, err := c.run()
			if err != nil {
				return nil, err
			}
			if round >= b.runs/10 { // the first ones warm up
				walls[i], cpus[i] = append(walls[i], wall), append(cpus[i], cpu)
			}
		}
	}
	results := make([]result, len(contenders))
	for i, c := range contenders {
		results[i] = result{c.name, median(walls[i]), median(cpus[i])}
	}
	return results, nil
}

func (c contender) run() (wall, cpu time.Duration, err error) {
	cmd := command(c.argv)
	if c.init {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		}
	}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("run %s: %w", c.name, err)
	}
	return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
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

func median[T cmp.Ordered](d []T) T {
	slices.Sort(d)
	return d[len(d)/2]
}
