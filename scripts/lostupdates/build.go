//go:build linux

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed job.sh
var jobText []byte

//go:embed setnx.sh
var setnxText []byte

// The builds of redlockrun.
const (
	guard     = "redlockrun"
	unguarded = "redlockrun-unguarded"
)

// Tools are the programs that are built or written for the rounds.
type tools struct {
	job, setnx, redsync string
	redlockrun          map[string]string
}

// withoutGuard are the places that tell whether there is to be a guard: none, as for PID 1,
// of which the kernel leaves nothing behind. There is no flag for that.
var withoutGuard = []struct{ file, old, new string }{
	{"internal/runner/guard_linux.go", "\tif os.Getpid() == 1 {\n\t\treturn nil\n", "\tif os.Getpid() > 0 {\n\t\treturn nil\n"},
	{"internal/guard/early_linux.go", "\tif syscall.Getpid() == 1 {\n\t\treturn\n", "\tif syscall.Getpid() > 0 {\n\t\treturn\n"},
}

func build(ctx context.Context, dir string) (*tools, error) {
	t := &tools{job: filepath.Join(dir, "job.sh"), setnx: filepath.Join(dir, "setnx.sh"), redsync: filepath.Join(dir, "redsyncrun"),
		redlockrun: map[string]string{guard: filepath.Join(dir, guard), unguarded: filepath.Join(dir, unguarded)}}
	overlay, err := overlay(dir)
	return t, errors.Join(err,
		os.WriteFile(t.job, jobText, 0o755), os.WriteFile(t.setnx, setnxText, 0o755),
		compile(ctx, "-o", t.redlockrun[guard], "./cmd/redlockrun"),
		compile(ctx, "-overlay", overlay, "-o", t.redlockrun[unguarded], "./cmd/redlockrun"),
		compile(ctx, "-C", "scripts/tools", "-o", t.redsync, "./redsyncrun"))
}

func compile(ctx context.Context, words ...string) error {
	// -C has to be the first word.
	args := append([]string{"build"}, words...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// overlay writes the files of the build without a guard, and what tells go build of them.
func overlay(dir string) (path string, err error) {
	replace := map[string]string{}
	for i, edit := range withoutGuard {
		text, err := os.ReadFile(edit.file)
		if err != nil {
			return "", err
		}
		if strings.Count(string(text), edit.old) != 1 {
			return "", fmt.Errorf("%s does not have %q once: withoutGuard is out of date", edit.file, edit.old)
		}
		from, err := filepath.Abs(edit.file)
		if err != nil {
			return "", err
		}
		replace[from] = filepath.Join(dir, fmt.Sprintf("overlay-%d.go", i))
		if err := os.WriteFile(replace[from], []byte(strings.Replace(string(text), edit.old, edit.new, 1)), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}
