//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// prepare makes the file and the table of a round, without an update and with the fence 0.
func (r *round) prepare(ctx context.Context) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	_, err := r.sql(ctx, "CREATE TABLE data (list TEXT, fence INTEGER); INSERT INTO data VALUES ('', 0)")
	return errors.Join(err, os.WriteFile(filepath.Join(r.dir, "file"), []byte("0\n\n"), 0o600),
		os.WriteFile(filepath.Join(r.dir, "journal"), nil, 0o600))
}

func (r *round) sql(ctx context.Context, text string) (string, error) {
	out, err := exec.CommandContext(ctx, "sqlite3", "-batch", "-cmd", ".timeout 20000", filepath.Join(r.dir, "table"),
		text).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("sqlite3 %s: %w: %s", text, err, out)
	}
	return string(out), nil
}

// compare counts the updates that were acknowledged, and those of them that the file or the
// table does not have.
func (r *round) compare(ctx context.Context) (acked, lost int, err error) {
	file, err := os.ReadFile(filepath.Join(r.dir, "file"))
	if err != nil {
		return 0, 0, err
	}
	table, err := r.sql(ctx, "SELECT list FROM data")
	if err != nil {
		return 0, 0, err
	}
	_, list, _ := strings.Cut(string(file), "\n") // behind the fence
	return len(r.acked), len(missing(r.acked, strings.Fields(list), strings.Fields(table))), nil
}

// missing are those of ids that one of the lists lacks.
func missing(ids []string, lists ...[]string) (lost []string) {
	for _, id := range ids {
		for _, list := range lists {
			if !slices.Contains(list, id) {
				lost = append(lost, id)
				break
			}
		}
	}
	return lost
}
