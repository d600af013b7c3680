package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

func TestWhatAJobPrintedOnOneHostIsReadOnAnother(t *testing.T) {
	t.Parallel()
	ability.Need(t, ability.Namespaces)
	s := redistest.Start(t, redistest.Options{})
	run := launchCommand(t, s.URL(), exec.Command("unshare", "--uts", "sh", "-c", `hostname web-9; exec "$0" "$@"`,
		binary(t), "-k", "job", "--keep-output", "1k", "sh", "-c", `echo cannot charge order 4711; exit 3`))
	run.ends(3)
	cmd := exec.Command(binary(t), "logs", "job")
	var printed bytes.Buffer
	cmd.Stdout = &printed
	logs := launchCommand(t, s.URL(), cmd)
	logs.ends(0)
	if printed.String() != "cannot charge order 4711\n" ||
		!strings.Contains(logs.stderr(), ` of "job" on web-9 ended `) {
		t.Errorf("logs printed %q and said %q", printed.String(), logs.stderr())
	}
}

// talks prints all the time. quiet forks no more: a shell that waits in vfork(2) for a child that was stopped before
// its execve does not stop itself, and then neither does redlockrun.
const (
	talks = `trap "echo caught; exit 5" TERM; i=0
		while :; do echo out $i; echo err $i >&2; i=$((i+1)); : >"$0"; sleep 0.01; done`
	quiet = `echo out; echo err >&2; : >"$0"; exec sleep 1000`
)

// stormEnds are the ways in which a run of the storm ends, and the exit status of each.
var stormEnds = []struct {
	name   string
	talk   string
	flags  []string
	end    func(run *process, s *redistest.Server, job string)
	status int
}{
	{"kill -9", talks, nil, func(run *process, _ *redistest.Server, _ string) { run.signal(syscall.SIGKILL) }, 137},
	{"TERM", talks, nil, func(run *process, _ *redistest.Server, _ string) { run.signal(syscall.SIGTERM) }, 5},
	{"max-runtime", talks, []string{"--max-runtime", "0.5"}, func(*process, *redistest.Server, string) {}, 124},
	{"Ctrl-Z", quiet, nil, func(run *process, _ *redistest.Server, _ string) {
		run.signal(syscall.SIGTSTP)
		untilStopped(run.t, run.cmd.Process.Pid)
		run.signal(syscall.SIGCONT)
		run.signal(syscall.SIGTERM)
	}, 143},
	{"lost lock", talks, nil, func(run *process, s *redistest.Server, job string) {
		if _, err := s.Do("SET", "redlockrun:{"+job+"}", "other"); err != nil {
			run.t.Error(err)
		}
	}, 76},
	{"stop", talks, nil, func(run *process, s *redistest.Server, job string) {
		launch(run.t, s.URL(), "stop", job).ends(0)
	}, 5},
}

// Runs that print all the time end in every way. None hangs, none leaves a process, the status is the one without the
// flag, and the output of each that has lived to keep it is kept. REDLOCKRUN_TEST_STORM says how many; without it each
// way comes once.
func TestAStormOfRunsThatKeepTheirOutput(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	attempts := len(stormEnds)
	if n, err := strconv.Atoi(os.Getenv("REDLOCKRUN_TEST_STORM")); err == nil {
		attempts = n
	}
	for n := range attempts {
		e := stormEnds[n%len(stormEnds)]
		t.Run(fmt.Sprint(e.name, " ", n), func(t *testing.T) {
			t.Parallel()
			for _, size := range []string{"64k", "0"} {
				endInStorm(t, s, fmt.Sprint("storm", n, "-", size), size, e.talk, e.flags, e.end, e.status)
			}
		})
	}
}

func endInStorm(t *testing.T, s *redistest.Server, job, size, talk string, flags []string,
	end func(*process, *redistest.Server, string), status int) {
	t.Helper()
	begun, mark := filepath.Join(t.TempDir(), "begun"), "STORM="+job+"-"+strconv.Itoa(os.Getpid())
	args := append([]string{"-k", job, "--ttl", "5", "--renew-every", "0.2", "--keep-output", size}, flags...)
	cmd := exec.Command(binary(t), append(args, "sh", "-c", talk, begun)...)
	cmd.Env = []string{mark}
	var printed bytes.Buffer
	cmd.Stdout = &printed
	run := launchCommand(t, s.URL(), cmd)
	until(t, "the command", func() bool { return exists(begun) || run.over() })
	end(run, s, job)
	run.ends(status) // its stdout has been read to its end by then
	until(t, "the end of all processes", func() bool { return !carried(t, mark) })
	want := int64(1)
	if size == "0" || status == 137 {
		want = 0
	}
	if kept, err := s.Do("LLEN", "redlockrun:{"+job+"}:output"); err != nil || kept != want {
		t.Errorf("%v outputs are kept, %v, want %d", kept, err, want)
	}
}

// carried tells whether a process has this variable in its environment.
func carried(t *testing.T, variable string) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if text, _ := os.ReadFile(file); bytes.Contains(text, []byte(variable+"\x00")) {
			return true
		}
	}
	return false
}
