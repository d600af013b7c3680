package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/seeded"
)

// git is what git says in dir.
func git(ctx context.Context, dir string, words ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", words...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", words[0], err, text)
	}
	return text, nil
}

// checkOut makes a work tree of a commit.
func checkOut(ctx context.Context, tree, commit string) error {
	_, err := git(ctx, "", "worktree", "add", "--quiet", "--detach", tree, commit)
	return err
}

// remove removes a work tree, though the time may be over.
func remove(tree string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := git(ctx, "", "worktree", "remove", "--force", tree); err != nil {
		fmt.Fprintln(os.Stderr, "track-record:", err)
	}
}

// forTests are the files that are no part of the program: tests, their data, and the packages
// that only tests import, under the names that they have had.
var forTests = regexp.MustCompile(`_test\.go$|(^|/)testdata/|^e2e/|^internal/proof/|` +
	`^internal/(e2e|soak|redistest|ability|lock/locktest|runner/ptytest)/`)

// takeTests puts the tests into a tree that show a fault: into the one before, and into the
// mended one if they came later.
func (f fault) takeTests(ctx context.Context, tree string, faulty bool) error {
	if f.script != "" || !faulty && f.from == "" {
		return nil
	}
	from := f.from
	if from == "" {
		from = f.commit
	}
	names, err := git(ctx, tree, "diff", "--name-only", "--no-renames", "HEAD", from)
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(names) {
		if !forTests.MatchString(name) || f.leaves(name) {
			continue
		}
		if _, err := git(ctx, tree, "cat-file", "-e", from+":"+name); err != nil {
			err = os.Remove(filepath.Join(tree, name))
			if err != nil && !os.IsNotExist(err) {
				return err
			}
		} else if _, err := git(ctx, tree, "checkout", "--quiet", from, "--", name); err != nil {
			return err
		}
	}
	return nil
}

// leaves reports that a test file stays as it was before: the new one may need what only the
// mended program has.
func (f fault) leaves(name string) bool {
	return f.take != "" && strings.HasSuffix(name, "_test.go") && !slices.Contains(strings.Fields(f.take), name)
}

// command runs in a tree what shows a fault.
func (f fault) command(ctx context.Context, tree string) (out string, err error) {
	if f.script != "" {
		return f.runScript(ctx, tree)
	}
	dir, pattern, _ := strings.Cut(f.test, " ")
	return output(ctx, tree, "go", "test", "-vet=off", "-count=1", "-v", "-timeout", "4m", "-run",
		seeded.Tests(pattern), "./"+dir)
}

// runScript builds the redlockrun of a tree, and runs the script with it. It ends with 1 if
// the fault is there.
func (f fault) runScript(ctx context.Context, tree string) (out string, err error) {
	script, err := filepath.Abs("scripts/trackrecord/" + f.script)
	if err != nil {
		return "", err
	}
	if out, err := output(ctx, tree, "go", "build", "-o", "shown", "./cmd/redlockrun"); err != nil {
		return out + " [build failed]", err
	}
	return output(ctx, tree, "sh", script, filepath.Join(tree, "shown"))
}

func output(ctx context.Context, dir string, words ...string) (string, error) {
	words = ability.Apart(words...) // what a fault leaves behind would run for ever
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	// Without their paths, trees share what was built of files that are the same.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath")
	// go test ends its tests; apart, WaitDelay does
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	return string(out), err
}
