//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

// A pair is a line of another lock, and the line of redlockrun beside it in docs/migrating.md.
type pair struct {
	*site
	lines []string
	lock  string // the file of the other lock
}

// newPair replaces the file of a row, and shortens its wait.
func newPair(t *testing.T, lines ...string) *pair {
	t.Helper()
	p := &pair{site: newSite(t)}
	p.lock = filepath.Join(p.dir, "lock")
	provideProgram(t, filepath.Join(p.dir, "job"), "#!/bin/sh\necho ran >>ran\nexit 3\n")
	for _, line := range lines {
		shorter := strings.NewReplacer("/run/lock/job", p.lock, "-w 10 ", "-w 0.2 ", "--wait 10 ", "--wait 0.2 ")
		p.lines = append(p.lines, shorter.Replace(line))
	}
	return p
}

// alike runs each line and checks that both end alike, and both run the job or none does.
func (p *pair) alike(t *testing.T, when string, status int, ran string) {
	t.Helper()
	for _, line := range p.lines {
		os.Remove(filepath.Join(p.dir, "ran"))
		if r := p.site.run("sh", "-c", line); r.status != status || p.ran() != ran {
			t.Errorf("%s: %s: %v, ran %q, want status %d, %q", when, line, r, p.ran(), status, ran)
		}
	}
}

// taken holds both locks while f runs.
func (p *pair) taken(t *testing.T, flock string, flags []string, f func()) {
	t.Helper()
	ours := append(append([]string{"redlockrun", "--key", "job"}, flags...), "--", "sh", "-c", "echo; exec cat")
	var inputs []interface{ Close() error }
	var ends []func() error
	for _, argv := range [][]string{{"flock", flock, p.lock, "sh", "-c", "echo; exec cat"}, ours} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := p.command(ctx, argv...)
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		output, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := output.Read(make([]byte, 1)); err != nil {
			t.Fatalf("%q: %v", argv, err)
		}
		inputs, ends = append(inputs, input), append(ends, cmd.Wait)
	}
	f()
	for i := range inputs {
		inputs[i].Close()
		if err := ends[i](); err != nil {
			t.Error(err)
		}
	}
}

// waits runs both lines while the locks are taken: both wait, and run the job once the locks are free.
func (p *pair) waits(t *testing.T) {
	t.Helper()
	var ended []func() run
	p.taken(t, "-x", nil, func() {
		for _, line := range p.lines {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			t.Cleanup(cancel)
			ended = append(ended, p.begin(p.command(ctx, "sh", "-c", "exec "+line)))
		}
		if !redistest.Until(patience, p.blocked) {
			t.Errorf("%s does not wait", p.lines[0])
		}
		p.until("ZCARD", "redlockrun:{job}:queue")
		if p.ran() != "" {
			t.Errorf("one has not waited: %q", p.ran())
		}
	})
	for i, end := range ended {
		if r := end(); r.status != 3 {
			t.Errorf("%s: %v", p.lines[i], r)
		}
	}
	if p.ran() != "ran\nran\n" {
		t.Errorf("ran %q", p.ran())
	}
}

// blocked tells whether a process waits for the file's lock.
func (p *pair) blocked() bool {
	info, err := exec.Command("stat", "-c", ":%i ", p.lock).Output()
	locks, _ := os.ReadFile("/proc/locks")
	inode := strings.TrimSuffix(string(info), "\n")
	for line := range strings.Lines(string(locks)) {
		if err == nil && strings.Contains(line, "-> ") && strings.Contains(line, inode) {
			return true
		}
	}
	return false
}

// busyStatus is the status that a row promises while the lock is taken; waits is true if it promises to wait.
func busyStatus(t *testing.T, ours string) (status int, waits bool) {
	t.Helper()
	if strings.Contains(ours, "--wait forever") {
		return 0, true
	}
	words := strings.Fields(ours)
	for i, word := range words {
		if word == "-E" {
			if _, err := fmt.Sscan(words[i+1], &status); err != nil {
				t.Fatal(err)
			}
			return status, false
		}
	}
	return 75, false
}

// needPeer leaves out a peer that is not installed.
func needPeer(t *testing.T, line string) {
	t.Helper()
	if _, err := exec.LookPath(strings.Fields(line)[0]); err != nil {
		t.Skip(err)
	}
}

func TestPeersOfExclusiveLocksBehaveAlike(t *testing.T) {
	t.Parallel()
	all := append(rows(block(t, "migrateflock")), rows(block(t, "migratesetlock"))...)
	before, after, _ := strings.Cut(block(t, "migrate"), "\n")
	uncommented := func(line string) string {
		line, _, _ = strings.Cut(line, " # ")
		return strings.ReplaceAll(line, "report", "job")
	}
	all = append(all, []string{uncommented(before), uncommented(after)})
	if len(all) < 10 {
		t.Fatalf("%d rows", len(all))
	}
	for _, row := range all {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			needPeer(t, row[0])
			p := newPair(t, row[0], row[1])
			p.alike(t, "free", 3, "ran\n")
			os.Remove(filepath.Join(p.dir, "ran"))
			if status, waits := busyStatus(t, row[1]); waits {
				p.waits(t)
			} else {
				p.taken(t, "-x", nil, func() { p.alike(t, "busy", status, "") })
			}
		})
	}
}

func TestPeersOfSharedLocksBehaveAlike(t *testing.T) {
	t.Parallel()
	shared := rows(block(t, "migrateshared"))
	reader, writer := newPair(t, shared[0][0], shared[0][1]), newPair(t, shared[1][0], shared[1][1])
	for _, p := range []*pair{reader, writer} {
		p.alike(t, "free", 3, "ran\n")
	}
	reader.taken(t, "-s", []string{"--permits", "64"}, func() { reader.alike(t, "beside a reader", 3, "ran\n") })
	writer.taken(t, "-s", []string{"--permits", "64"}, func() { writer.alike(t, "beside a reader", 1, "") })
	all := []string{"--permits", "64", "--take", "all"}
	reader.taken(t, "-x", all, func() { reader.alike(t, "beside a writer", 1, "") })
	writer.taken(t, "-x", all, func() { writer.alike(t, "beside a writer", 1, "") })
	writer.alike(t, "free again", 3, "ran\n")
}

func TestASubshellWithADescriptorBecomesASection(t *testing.T) {
	t.Parallel()
	functions, _, found := strings.Cut(block(t, "section"), "\n./build\n")
	before, after, _ := strings.Cut(strings.TrimSpace(block(t, "migratesection")), "\n")
	if !found {
		t.Fatal("the example of a section does not begin with ./build")
	}
	p := newPair(t, before, after)
	p.lines = []string{
		"sh -c '" + p.lines[0] + "'", "sh " + p.provide("after", functions+"\n"+p.lines[1]+"\n"),
	}
	p.alike(t, "free", 3, "ran\n")
	os.Remove(filepath.Join(p.dir, "ran"))
	p.until("EXISTS", "redlockrun:{job}:fence")
	if !redistest.Until(patience, func() bool {
		reply, err := p.server.Do("EXISTS", "redlockrun:{job}")
		return err == nil && reply == int64(0)
	}) {
		t.Fatal("the lock stays")
	}
	p.waits(t)
}
