package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// budget is how long a drawing may take: what is not begun by then is left out.
const (
	budget = 5 * time.Minute
	enough = 3 * time.Minute
)

// show shows the faults that word means, and fails if one of them is not shown.
func show(ctx context.Context, faults []fault, word, seed string) error {
	chosen, drawn := choose(faults, word, seed)
	if len(chosen) == 0 {
		return fmt.Errorf("no fault with a command is of %q", word)
	}
	if shallow, err := git(ctx, "", "rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		fmt.Println("nothing is shown: this is no clone with the whole history")
		return nil
	}
	if drawn {
		fmt.Printf("drawn by %s\n", seed)
		limited, cancel := context.WithTimeout(ctx, budget)
		defer cancel()
		ctx = limited
	}
	return showAll(ctx, chosen, drawn)
}

func showAll(ctx context.Context, chosen []fault, drawn bool) error {
	began, shown, wrong := time.Now(), 0, 0
	for i, f := range chosen {
		if drawn && i > 0 && time.Since(began) > enough {
			fmt.Printf("%d more are left out: the time is over\n", len(chosen)-i)
			break
		}
		since := time.Now()
		err := f.show(ctx)
		switch {
		case ctx.Err() != nil:
			fmt.Printf("not done   %s %s: %v\n", f.commit, f.part, ctx.Err())
		case err != nil:
			wrong++
			fmt.Printf("NOT SHOWN  %s %s: %s\n%v\n", f.commit, f.part, f.text, err)
		default:
			shown++
			fmt.Printf("shown      %s %s: %s (%s)\n", f.commit, f.part, f.text, time.Since(since).Round(time.Second))
		}
	}
	fmt.Printf("%d of %d shown, in %s\n", shown, len(chosen), time.Since(began).Round(time.Second))
	if wrong > 0 || shown == 0 {
		return errors.New("the record does not hold")
	}
	return nil
}

// choose are the faults that word means; drawn, if it is how many are to be drawn.
func choose(faults []fault, word, seed string) (chosen []fault, drawn bool) {
	for _, f := range faults {
		n, err := strconv.Atoi(word)
		drawn = err == nil && n > 0 && len(word) < 4
		if f.shown() && (drawn || word == "all" || word == f.part || strings.HasPrefix(f.commit, word) ||
			strings.HasPrefix(word, f.commit)) {
			chosen = append(chosen, f)
		}
	}
	if !drawn {
		return chosen, false
	}
	n, _ := strconv.Atoi(word)
	h := fnv.New64a()
	h.Write([]byte(seed))
	rand.New(rand.NewPCG(h.Sum64(), 0)).Shuffle(len(chosen),
		func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	return chosen[:min(n, len(chosen))], true
}

// show is nil if the command of a fault fails on the commit before, and passes on its own.
func (f fault) show(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "track-record")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, side := range []struct {
		name, commit string
		faulty       bool
	}{{"before", f.commit + "^", true}, {"mended", f.commit, false}} {
		tree := filepath.Join(dir, side.name)
		if err := checkOut(ctx, tree, side.commit); err != nil {
			return err
		}
		err := f.judge(ctx, tree, side.faulty)
		remove(tree)
		if err != nil {
			return fmt.Errorf("%s (%s): %w", side.name, side.commit, err)
		}
	}
	return nil
}

// judge is nil if the command fails in a tree that is faulty, and passes in one that is not.
// Both are allowed three times: a test may be of a time when it asked much of a machine, and
// a fault may need luck to show.
func (f fault) judge(ctx context.Context, tree string, faulty bool) error {
	if err := f.takeTests(ctx, tree, faulty); err != nil {
		return err
	}
	var last error
	for range 3 {
		out, err := f.command(ctx, tree)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case unbuilt(out):
			return fmt.Errorf("it cannot be built:\n%s", tail(out))
		case faulty && err != nil && strings.Contains(out, f.says) && failed(out, f):
			return nil
		case !faulty && err == nil && passed(out, f):
			return nil
		case faulty:
			last = fmt.Errorf("it does not fail with %q (%v):\n%s", f.says, err, tail(out))
		default:
			last = fmt.Errorf("it does not pass (%v):\n%s", err, tail(out))
		}
	}
	return last
}

func unbuilt(out string) bool {
	return strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]")
}

func failed(out string, f fault) bool {
	return f.script != "" || strings.Contains(out, "--- FAIL: ") || strings.Contains(out, "panic: ")
}

func passed(out string, f fault) bool { return f.script != "" || strings.Contains(out, "--- PASS: ") }

// tail are the last lines of a text.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}
