//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// unit reads a unit file: [Section] and Key=Value.
func unit(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	sections, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch name, isSection := strings.CutPrefix(line, "["); {
		case line == "" || strings.HasPrefix(line, "#"):
		case isSection:
			section = strings.TrimSuffix(name, "]")
			sections[section] = map[string]string{}
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				t.Fatalf("a unit file has the line %q", line)
			}
			sections[section][key] = value
		}
	}
	return sections
}

// execStart is the service's command, with the programs of this site, and a splay for which
// nobody has to wait.
func (s *site) execStart(service map[string]string) []string {
	words := strings.Fields(strings.Replace(service["ExecStart"], " --splay 30s ", " --splay 0.1 ", 1))
	for i, word := range words {
		switch word {
		case "redlockrun":
			words[i] = filepath.Join(bin, "redlockrun")
		case "/usr/bin/php":
			words[i] = filepath.Join(s.dir, "php")
		}
	}
	return words
}

func TestReadmeServiceEndsWellWhenStopped(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho ready\nexec sleep 100\n")
	service := unit(t, block(t, "service"))["Service"]
	if service["KillMode"] != "mixed" {
		t.Errorf("KillMode=%s: the command would get two SIGTERM", service["KillMode"])
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.command(ctx, s.execStart(service)...)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // its status is looked at below
	if status := fmt.Sprint(cmd.ProcessState.ExitCode()); !slices.Contains(strings.Fields(service["SuccessExitStatus"]),
		status) {
		t.Errorf("status %s is none of SuccessExitStatus=%s", status, service["SuccessExitStatus"])
	}
}

func TestReadmeServiceRunsOncePerTick(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho \"$@\" >>ran\n")
	words := s.execStart(unit(t, block(t, "service"))["Service"])
	want(t, s.inOneTick(3, func() *exec.Cmd { return s.command(t.Context(), words...) }), run{}, run{}, run{})
	if ran := s.ran(); ran != "/srv/shop/cancel_orders.php\n" {
		t.Errorf("three hosts ran %q", ran)
	}
}

func TestReadmeTimerStartsTheService(t *testing.T) {
	timer := unit(t, block(t, "timer"))
	if delay, found := timer["Timer"]["RandomizedDelaySec"]; found {
		t.Errorf("RandomizedDelaySec=%s may cross the boundary of a slot", delay)
	}
	if timer["Timer"]["OnCalendar"] == "" || timer["Install"]["WantedBy"] != "timers.target" {
		t.Errorf("%v", timer)
	}
	name := func(block string) string {
		path, _, _ := strings.Cut(strings.TrimPrefix(block, "# "), "\n")
		return strings.TrimSuffix(path, filepath.Ext(path))
	}
	if service := name(block(t, "service")); name(block(t, "timer")) != service {
		t.Errorf("the timer is not that of %s", service)
	}
}
