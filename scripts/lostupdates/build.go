//go:build linux

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"redlockrun/internal/proof/seeded"
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

// withoutGuard edits the place that decides whether there is a guard: none, as for PID 1,
// of which the kernel leaves nothing behind. There is no flag for that.
var withoutGuard = []seeded.Edit{
	{
		File: "internal/runner/guard_linux.go",
		Old:  "\tif os.Getpid() == 1 {\n\t\treturn nil\n",
		New:  "\tif os.Getpid() > 0 {\n\t\treturn nil\n",
	},
}

func build(ctx context.Context, dir string) (*tools, error) {
	t := &tools{job: filepath.Join(dir, "job.sh"), setnx: filepath.Join(dir, "setnx.sh"),
		redsync:    filepath.Join(dir, "redsyncrun"),
		redlockrun: map[string]string{guard: filepath.Join(dir, guard), unguarded: filepath.Join(dir, unguarded)}}
	overlay, err := seeded.Overlay(dir, ".", withoutGuard...)
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
