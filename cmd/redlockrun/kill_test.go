package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"redlockrun/internal/explain"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

const (
	lanes  = 10
	rounds = 20 // of each lane: 200 moments in all
)

// Redlockrun is killed at random moments, each time with a successor
// waiting, and with jobs that have children. The jobs' log shows no two at once.
func TestRunsKilledAtRandomMomentsNeverOverlap(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.Start(t, redistest.Options{})
	for lane := range lanes {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			t.Parallel()
			killLane(t, s, fmt.Sprint("lane", lane))
		})
	}
}

func killLane(t *testing.T, s *redistest.Server, name string) {
	dir := t.TempDir()
	log, end := filepath.Join(dir, "log"), filepath.Join(dir, "end")
	next := func() *process {
		return launch(t, s.URL(), "-k", name, "--ttl", "1", "--wait", "forever", "job", log, "grandchild", end)
	}
	run := next()
	for round := range rounds {
		successor := next()
		switch round % 4 {
		case 0: // while the program starts, or waits
			<-time.After(rand.N(20 * time.Millisecond))
		case 1: // about when the lease of the one before ends
			<-time.After(time.Second - 100*time.Millisecond + rand.N(200*time.Millisecond))
		default: // at the start of the command, or under way
			until(t, "the turn of a run", func() bool {
				if began(log, successor) { // it came to the line first
					run, successor = successor, run
				}
				return run.over() || began(log, run)
			})
			<-time.After(rand.N(50 * time.Millisecond))
		}
		run.kill()
		run = successor
	}
	untilRuns(t, log, 1)
	touch(t, end)
	run.ends(0, explain.StatusLost) // a ttl of 1 s is not much for a busy machine
	if n := len(runsOf(t, log)); n < rounds/4 {
		t.Errorf("only %d runs came to their command", n)
	}
}

// began reports whether p has run its job.
func began(log string, p *process) bool { return exists(fmt.Sprint(log, ".", p.cmd.Process.Pid)) }
