package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

const beat = 2 * time.Millisecond

// jobMain is a command for tests. It writes its run id into the append-only
// file named by its first argument, again and again, until it is ended or, with a
// second argument, that file exists. When it begins it makes a file LOG.PID, with
// redlockrun's number. With "grandchild" it has a process below it that
// does the same, with "stubborn" it ignores SIGTERM.
func jobMain() {
	path, until := os.Args[1], ""
	for _, arg := range os.Args[2:] {
		switch arg {
		case "grandchild":
			child := exec.Command(os.Args[0], path)
			if err := child.Start(); err != nil {
				panic(err)
			}
		case "stubborn":
			signal.Ignore(syscall.SIGTERM)
		default:
			until = arg
		}
	}
	log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if begun := path + "." + os.Getenv(pidVar); os.WriteFile(begun, nil, 0o600) != nil {
		panic("write " + begun)
	}
	run := os.Getenv(runIDVar) + "\n"
	for range time.Tick(beat) {
		if _, err := log.WriteString(run); err != nil {
			panic(err)
		}
		if _, err := os.Stat(until); until != "" && err == nil {
			return
		}
	}
}

// runsOf are the runs that wrote into a job's log, in the order of their first
// line. Two at once fail the test: when one has written, none before it may write again.
func runsOf(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	runs, err := checkRuns(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return runs
}

func checkRuns(text string) (runs []string, err error) {
	over := make(map[string]bool)
	for i, run := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if run == "" {
			continue
		}
		if over[run] {
			return nil, fmt.Errorf("line %d: run %s goes on after run %s has begun", i+1, run, runs[len(runs)-1])
		}
		if len(runs) > 0 && runs[len(runs)-1] != run {
			over[runs[len(runs)-1]] = true
		}
		if len(runs) == 0 || runs[len(runs)-1] != run {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

func TestTheCheckerOfJobsSeesTwoAtOnce(t *testing.T) {
	if _, err := checkRuns("a\na\nb\nb\nc\n"); err != nil {
		t.Error(err)
	}
	if _, err := checkRuns("a\nb\na\n"); err == nil {
		t.Error("an overlap was not seen")
	}
}
