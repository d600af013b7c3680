//go:build linux

package e2e

import (
	"strings"
	"testing"
)

func TestReadmeDeployWaitsAndEndsNoOtherPause(t *testing.T) {
	s := newSite(t)
	s.provide("deploy", "#!/bin/sh\necho deployed >>ran\n")
	s.provide("wait.sh", "#!/bin/sh\nexec cat\n") // until its input ends
	if r := s.run("redlockrun", "--key", "audited", "true"); r != (run{}) {
		t.Fatal(r)
	}
	s.run("redlockrun", "pause", "audited", "--why", "audit")
	job := s.command(t.Context(), "redlockrun", "--key", "orders", "wait.sh")
	input, err := job.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	jobEnded := s.begin(job)
	s.until("EXISTS", "redlockrun:{orders}")
	deployEnded := s.begin(s.command(t.Context(), "sh", "-c", strings.TrimSpace(block(t, "deploy"))))
	s.until("EXISTS", "redlockrun:{orders}:paused")
	input.Close()
	want(t, []run{jobEnded()}, run{})
	r := deployEnded()
	if r.status != 0 || !strings.Contains(r.stdout, `resumed "orders"`) ||
		strings.Contains(r.stdout, `resumed "audited"`) {
		t.Error(r)
	}
	if ran := s.ran(); ran != "deployed\n" {
		t.Errorf("ran %q", ran)
	}
}

func TestReadmeReplaceStopsTheOldRun(t *testing.T) {
	s := newSite(t)
	s.provide("make", "#!/bin/sh\necho new >>ran\n")
	old := s.begin(s.command(t.Context(), "redlockrun", "--key", "report", "--renew-every", "0.2", "sleep", "1000"))
	s.until("EXISTS", "redlockrun:{report}")
	if r := s.run("sh", "-ec", block(t, "replace")); r.status != 0 || !strings.Contains(r.stdout, `to stop "report"`) {
		t.Error(r)
	}
	if r := old(); r.status != 143 {
		t.Error(r)
	}
	if ran := s.ran(); ran != "new\n" {
		t.Errorf("ran %q", ran)
	}
}
