package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/config"
)

const beat = 2 * time.Millisecond

// jobMain is a command for tests: job LOG [grandchild] [stubborn] [END]. It
// writes its run id into the append-only file LOG, again and again, until it is
// ended, LOG is removed or END exists. When it begins it makes a file LOG.PID, with redlockrun's
// number. With grandchild it has a process below it that does the same, with
// stubborn it ignores SIGTERM.
func jobMain() {
	path, end := os.Args[1], ""
	var child *exec.Cmd
	for _, arg := range os.Args[2:] {
		switch arg {
		case "grandchild":
			child = exec.Command(os.Args[0], without(os.Args[1:], arg)...)
			must(child.Start())
		case "stubborn":
			signal.Ignore(syscall.SIGTERM)
		default:
			end = arg
		}
	}
	work(path, end)
	if child != nil {
		must(child.Wait())
	}
}

func work(path, end string) {
	log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(err)
	must(os.WriteFile(path+"."+os.Getenv(config.PIDVar), nil, 0o600))
	run := os.Getenv(config.RunIDVar) + "\n"
	for range time.Tick(beat) {
		_, err := log.WriteString(run)
		must(err)
		if !exists(path) || end != "" && exists(end) {
			return
		}
	}
}

func without(words []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == word })
}

func must(err error) {
	if err != nil {
		panic(err)
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

// checkRuns leaves out a last line without its end: a write that reaches into
// the next page of the file can be seen in part.
func checkRuns(text string) (runs []string, err error) {
	over := make(map[string]bool)
	text = text[:strings.LastIndexByte(text, '\n')+1]
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
	if runs, err := checkRuns("run\nrun\nr"); err != nil || len(runs) != 1 {
		t.Errorf("a line that is being written counts as a run: %q, %v", runs, err)
	}
}
