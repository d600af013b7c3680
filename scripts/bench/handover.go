//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// parkLimit bounds how long starting a line of waiters may take.
const parkLimit = 2 * time.Minute

// handOver measures how fast a lock goes through a line of parked waiters: the
// time from the first holder's end to the end of the last waiter, for each of
// them. It alternates with flock(1), whose waiters wait in the kernel.
func handOver(b *bench) error {
	for _, n := range []int{20, 100, 400} {
		h, err := b.handOvers(n)
		if err != nil {
			return fmt.Errorf("hand over to %d waiters: %w", n, err)
		}
		title := fmt.Sprintf("Hand-over with %d parked, each", n)
		b.say(title, fmt.Sprintf("%.2f ms, flock(1) %.2f ms, %.2f x (copies differ by %.0f %%)",
			milliseconds(median(h.ours)), milliseconds(median(h.kernel)), median(h.times), spread(h.times)))
		if n == 100 {
			b.atMost("hand-over, 100 parked", "x flock FILE true", median(h.times), 2.2)
			b.goal("hand-over, 100 parked", "x flock FILE true", median(h.times), 1.5)
		}
	}
	return b.lineCommands()
}

// handOvers are medians for each copy, and of how many times longer ours took than
// the kernel's just after it: a machine that others use is quick and slow in turn.
type handOvers struct {
	ours, kernel []time.Duration
	times        []float64
}

func (b *bench) handOvers(n int) (h handOvers, err error) {
	for _, program := range b.programs {
		var ours, kernel []time.Duration
		var times []float64
		for range max(1, min(b.runs/30, 5)) {
			mine, err := b.ourHandOver(program, n)
			if err != nil {
				return h, err
			}
			theirs, err := b.kernelHandOver(n)
			if err != nil {
				return h, err
			}
			ours, kernel, times = append(ours, mine), append(kernel, theirs), append(times, ratio(mine, theirs))
		}
		h.ours, h.kernel, h.times = append(h.ours, median(ours)), append(h.kernel, median(kernel)),
			append(h.times, median(times))
	}
	return h, nil
}

func (b *bench) ourHandOver(program string, n int) (time.Duration, error) {
	took, err := drain(b.waiting(program, "cat"), b.waiting(program, "true"), n, b.inLine, func() error { return nil })
	return took / time.Duration(n), err
}

func (b *bench) kernelHandOver(n int) (time.Duration, error) {
	file := filepath.Join(b.dir, "line")
	hold, wait := []string{"flock", file, "cat"}, []string{"flock", file, "true"}
	took, err := drain(hold, wait, n, func() (int, error) { return blocked(file) }, func() error { return nil })
	return took / time.Duration(n), err
}

// parkedFor is how long parked waiters are watched: two looks of each at most.
const parkedFor = 10400 * time.Millisecond

// lineCommands counts what the line costs the server: for each hand-over with
// few and with many parked, and for each waiter that only waits.
func (b *bench) lineCommands() error {
	few, _, err := b.cost(10, 0)
	if err != nil {
		return fmt.Errorf("count commands: %w", err)
	}
	many, parked, err := b.cost(400, parkedFor)
	if err != nil {
		return fmt.Errorf("count commands: %w", err)
	}
	b.say("Commands for each hand-over", fmt.Sprintf("%.1f with 10 parked, %.1f with 400", few, many))
	b.atMost("commands of a hand-over", "x those with 10 parked, at 400", max(many/few, few/many), 1.2)
	b.atMost("commands of a parked waiter", "in 5 s", parked*float64(5*time.Second)/float64(parkedFor), 1)
	return nil
}

// cost counts commands with n waiters: of each while parked for a time, and of
// each of the hand-overs to them.
func (b *bench) cost(n int, rest time.Duration) (handOver, parked float64, err error) {
	var started, rested, ended int
	_, err = drain(b.waiting(b.programs[0], "cat"), b.waiting(b.programs[0], "true"), n, b.inLine, func() error {
		if started, err = b.commands(); err != nil {
			return err
		}
		time.Sleep(rest)
		rested, err = b.commands()
		return err
	})
	if err == nil {
		ended, err = b.commands()
	}
	return float64(ended-rested) / float64(n), float64(rested-started) / float64(n), err
}

// commands is how many scripts the server has run: all that waiters and holders send.
func (b *bench) commands() (n int, err error) {
	stats, err := b.server.Do("INFO", "commandstats")
	text, _ := stats.(string)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_eval:calls="); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n, err
}

// waiting is the command line that waits for the lock to run argv.
func (b *bench) waiting(program string, argv ...string) []string {
	return append([]string{program, "--key", "line", "--wait", "forever", "--redis-timeout", "60", "--redis",
		b.server.URL(), "--"}, argv...)
}

// drain lets n wait behind a holder, ends the holder, and returns how long it
// takes until all have run. ready is called when all wait.
func drain(hold, wait []string, n int, parked func() (int, error), ready func() error) (time.Duration, error) {
	holder := command(hold)
	input, err := holder.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := holder.Start(); err != nil {
		return 0, err
	}
	defer holder.Process.Kill()
	if _, err := io.WriteString(input, "."); err != nil {
		return 0, err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // cat runs: the lock is held
		return 0, err
	}
	waiters, err := park(wait, n, parked)
	if err != nil {
		return 0, err
	}
	if err := ready(); err != nil {
		end(waiters)
		return 0, err
	}
	start := time.Now()
	input.Close()
	var ended sync.WaitGroup
	failed := make(chan error, n+1)
	for _, cmd := range append(waiters, holder) {
		ended.Go(func() {
			if err := cmd.Wait(); err != nil {
				failed <- err
			}
		})
	}
	ended.Wait()
	took := time.Since(start)
	close(failed)
	return took, <-failed
}

// batch is how many waiters start at once: fewer than an idle machine minds.
const batch = 8

// park starts n waiters and returns when all stand in line. If it fails, none is left.
func park(argv []string, n int, parked func() (int, error)) (waiters []*exec.Cmd, err error) {
	defer func() {
		if err != nil {
			end(waiters)
		}
	}()
	for len(waiters) < n {
		cmd := command(argv)
		if err := cmd.Start(); err != nil {
			return waiters, err
		}
		waiters = append(waiters, cmd)
		if len(waiters)%batch == 0 || len(waiters) == n {
			if err := inLineBy(len(waiters), parked); err != nil {
				return waiters, err
			}
		}
	}
	return waiters, nil
}

func inLineBy(n int, parked func() (int, error)) error {
	for deadline := time.Now().Add(parkLimit); ; {
		got, err := parked()
		if err != nil || got == n {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("only %d of %d are in line", got, n)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func end(processes []*exec.Cmd) {
	for _, cmd := range processes {
		cmd.Process.Kill()
		cmd.Wait()
	}
}
func (b *bench) inLine() (int, error) {
	n, err := b.server.Do("ZCARD", "redlockrun:{line}:queue")
	count, _ := n.(int64)
	return int(count), err
}

// blocked is how many processes wait for a lock of the file: proc(5), /proc/locks.
func blocked(file string) (n int, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0, err
	}
	inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, inode) {
			n++
		}
	}
	return n, nil
}
