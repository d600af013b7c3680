//go:build linux

package e2e

import (
	"strings"
	"testing"
)

// What is wrapped around the job stands inside of redlockrun, and the line is else that of
// README.md, which is run.
func TestRecipesOfPingsAndMailStandInside(t *testing.T) {
	plain := readCrontab(t, "crontab").command
	for name, inside := range map[string]string{"pings": "runitor -slug cancel-orders -- ", "mail": "chronic "} {
		line := readCrontab(t, name)
		if before, after, found := strings.Cut(line.command, " -- "+inside); !found || before+" -- "+after != plain {
			t.Errorf("%s: %s", name, line.command)
		}
	}
	if line := readCrontab(t, "pings"); len(line.env) != 1 || !strings.HasPrefix(line.env[0], "HC_PING_KEY=") {
		t.Errorf("-slug needs a ping key: %q", line.env)
	}
}

func TestRecipeCoalesceRunsOnceMore(t *testing.T) {
	s := newSite(t)
	s.provide("publish.sh", "#!/bin/sh\necho ran >>ran\nexec cat\n") // until its input ends
	line := strings.TrimSpace(block(t, "coalesce"))
	first := s.command(t.Context(), "sh", "-c", line)
	input, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	firstEnded := s.begin(first)
	s.until("EXISTS", "redlockrun:{publish}")
	secondEnded := s.begin(s.command(t.Context(), "sh", "-c", line))
	s.until("ZCARD", "redlockrun:{publish}:queue")
	for range 3 {
		if r := s.run("sh", "-c", line); r != (run{}) {
			t.Errorf("a further one: %v", r)
		}
	}
	input.Close()
	want(t, []run{firstEnded(), secondEnded()}, run{}, run{})
	if ran := s.ran(); ran != "ran\nran\n" {
		t.Errorf("five starts ran %q", ran)
	}
}
