//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"redlockrun/internal/proof/redistest"
)

// A scene is a comment, a command of a host, or the end of what this host runs in the background.
type scene struct {
	host, comment, command string
	background, await      bool
}

// A line is what the terminal shows, and how long after the beginning.
type line struct {
	text  string
	typed bool
	at    time.Duration
}

// A stage is two hosts that share a Redis, and the terminal that shows them.
type stage struct {
	dir    string
	server *redistest.Server
	start  time.Time
	lines  []line
	begun  *exec.Cmd // what runs in the background
	said   bytes.Buffer
}

// newStage starts a Redis of its own.
func newStage(dir, program string) (*stage, error) {
	if err := installed(dir, program); err != nil {
		return nil, err
	}
	server, err := redistest.New(dir, redistest.Options{})
	return &stage{dir: dir, server: server, start: time.Now()}, err
}

// until waits for a condition.
func until(ctx context.Context, done func() bool) error {
	for tick := time.NewTicker(20 * time.Millisecond); !done(); {
		select {
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// play shows a scene.
func (s *stage) play(ctx context.Context, what scene) error {
	switch {
	case what.comment != "":
		s.show(what.comment, true)
		return nil
	case what.await:
		return s.awaited()
	}
	s.show(what.host+"$ "+what.command, true)
	if what.background {
		return s.begin(ctx, what)
	}
	cmd := s.shell(ctx, what)
	out, err := cmd.CombinedOutput()
	s.show(string(out), false)
	return unlessExit(err)
}

// begin starts the job of a host and waits until it holds its lock.
func (s *stage) begin(ctx context.Context, what scene) error {
	s.begun = s.shell(ctx, scene{host: what.host, command: strings.TrimSuffix(what.command, " &")})
	s.begun.Stdout, s.begun.Stderr = &s.said, &s.said
	if err := s.begun.Start(); err != nil {
		return err
	}
	return until(ctx, func() bool {
		held, err := s.server.Do("EXISTS", "redlockrun:{report}")
		return err == nil && held == int64(1)
	})
}

// awaited shows what the job in the background printed.
func (s *stage) awaited() error {
	err := s.begun.Wait()
	s.show(s.said.String(), false)
	return unlessExit(err)
}

// unlessExit returns an error that is more than an exit status.
func unlessExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// shell is a command in a host of that name.
func (s *stage) shell(ctx context.Context, what scene) *exec.Cmd {
	enter := []string{"--uts"}
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	cmd := exec.CommandContext(ctx, "unshare", append(enter, "sh", "-c", `hostname "$1"; exec sh -c "$2"`, "sh",
		what.host, what.command)...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.dir + ":" + os.Getenv("PATH"), "TZ=UTC", "REDLOCKRUN_CONFIG=/dev/null",
		"REDLOCKRUN_REDIS=" + s.server.URL()}
	return cmd
}

// show adds text to the terminal. The address is one of the documentation.
func (s *stage) show(text string, typed bool) {
	text = strings.ReplaceAll(text, s.server.Addr(), "redis.internal:6379")
	for each := range strings.Lines(text) {
		s.lines = append(s.lines, line{strings.TrimRight(each, "\n"), typed, time.Since(s.start)})
	}
}
