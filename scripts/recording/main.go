//go:build linux

// Command recording runs redlockrun as two hosts on a throw-away Redis and draws what a terminal shows.
//
//	recording [-program ./redlockrun] [-out docs/demo.svg]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// patience bounds the whole recording.
const patience = time.Minute

// scenes are what is typed, and where.
var scenes = []scene{
	{host: "web-1", comment: "# every host has the same line in its crontab; two of them start it now"},
	{host: "web-1", command: "redlockrun --key report --once-per 1d -E 0 -- ./report.sh &", background: true},
	{host: "web-2", command: "redlockrun --key report --once-per 1d -E 0 -v -- ./report.sh"},
	{host: "web-2", command: "redlockrun status"},
	{host: "web-1", await: true},
	{host: "web-2", command: "redlockrun --key report --once-per 1d -- ./report.sh; echo $?"},
	{host: "web-2", comment: "# one run did the work of today; any host knows it"},
	{host: "web-2", command: "redlockrun history report"},
}

// report is the job: it works for two seconds, so that the other host meets it.
const report = "#!/bin/sh\nsleep 2\necho 'the report is done'\n"

func main() {
	program := flag.String("program", "./redlockrun", "the redlockrun that is recorded")
	out := flag.String("out", "docs/demo.svg", "where the picture is written")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := record(ctx, *program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// record plays all scenes and writes the picture.
func record(ctx context.Context, program, out string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dir, err := os.MkdirTemp("", "recording")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := newStage(dir, program)
	if err != nil {
		return err
	}
	defer s.server.Close()
	for _, each := range scenes {
		if err := s.play(ctx, each); err != nil {
			return fmt.Errorf("play %q: %w", each.command, err)
		}
	}
	return os.WriteFile(out, []byte(draw(s.lines)), 0o644)
}

// installed puts the program and the job into a directory.
func installed(dir, program string) error {
	path, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	if err := os.Symlink(path, filepath.Join(dir, "redlockrun")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "report.sh"), []byte(report), 0o755)
}
