package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// A crowd is a run whose command has used up all processes that its user may have.
type crowd struct {
	*process
	store *redistest.Server
	end   string // a FIFO: the command ends when another process has opened and closed it
}

// crowds counts them: what one leaves may take a moment to die, and would count for the next one.
var crowds atomic.Uint32

// startCrowd starts one, and returns when there is no room for another process. The user owns
// no other process: what the limit counts is the run's own.
func startCrowd(t *testing.T, flags ...string) crowd {
	t.Helper()
	uid := 200_000 + 100*uint32(os.Getpid()) + crowds.Add(1)
	ability.Need(t, ability.Users)
	dir, s := t.TempDir(), redistest.Start(t, redistest.Options{})
	for d := dir; d != "/tmp" && d != "/"; d = filepath.Dir(d) {
		must(os.Chmod(d, 0o777))
	}
	program, full, end := filepath.Join(dir, "redlockrun"), filepath.Join(dir, "full"), filepath.Join(dir, "end")
	if out, err := exec.Command("cp", binary(t), program).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	must(unix.Mkfifo(end, 0o666))
	must(os.Chmod(end, 0o666))
	const (
		limited = `ulimit -u 60 2>/dev/null || ulimit -p 60 || exit 98; exec "$@"`
		fork    = `trap ': >"$0"; exec cat "$1"' EXIT; exec 2>/dev/null; while :; do sleep 600 & done`
	)
	user := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	args := append([]string{"-c", limited, "sh", program, "-k", "job", "--ttl", "2"}, flags...)
	cmd := exec.Command("sh", append(args, "--", "sh", "-c", fork, full, end)...)
	cmd.SysProcAttr = user
	t.Cleanup(func() { // what the command leaves
		kill := exec.Command("sh", "-c", "kill -9 -1")
		kill.SysProcAttr = &syscall.SysProcAttr{Credential: user.Credential}
		_ = kill.Run()
	})
	run := launchCommand(t, s.URL(), cmd)
	until(t, "the last process", func() bool { return exists(full) || run.over() })
	return crowd{process: run, store: s, end: end}
}

// untilRenewed waits for n renewals.
func (c crowd) untilRenewed(n int) {
	c.t.Helper()
	last := int64(0)
	until(c.t, "renewals", func() bool {
		left, err := c.store.Do("PTTL", key)
		if now, ok := left.(int64); err == nil && ok {
			if now > last && last != 0 {
				n--
			}
			last = now
		}
		return n <= 0 || c.over()
	})
	if c.over() {
		c.t.Fatalf("it ended\n%s", c.stderr())
	}
}

// let the command end by itself.
func (c crowd) letEnd() {
	c.t.Helper()
	f, err := os.OpenFile(c.end, os.O_WRONLY, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	f.Close()
}

// Whether a run needs another thread later is chance. So count those that it has made: one of the caller and four more
// for Go code, and two of the runtime's own.
func TestThreadsAreMadeBeforeTheCommandStarts(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	file := filepath.Join(t.TempDir(), "status")
	run := launch(t, s.URL(), "-k", "job", "sh", "-c", `exec cat /proc/$PPID/status >"$0"`, file)
	run.ends(0)
	status, err := os.ReadFile(file)
	must(err)
	_, threads, _ := strings.Cut(string(status), "\nThreads:")
	threads, _, _ = strings.Cut(strings.TrimSpace(threads), "\n")
	if n, err := strconv.Atoi(threads); err != nil || n < 7 {
		t.Errorf("%d threads, %v, in %s", n, err, status)
	}
}

func TestACommandThatUsesUpAllProcessesKeepsItsLock(t *testing.T) {
	t.Parallel()
	run := startCrowd(t)
	run.untilRenewed(3)
	if _, err := run.store.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"); err != nil {
		t.Fatal(err)
	}
	run.untilRenewed(2)
	run.letEnd()
	run.ends(0)
	wantNoLock(t, run.store)
	if strings.Contains(run.stderr(), "runtime") {
		t.Errorf("it said %q", run.stderr())
	}
}

func TestACommandThatUsesUpAllProcessesIsTerminated(t *testing.T) {
	t.Parallel()
	run := startCrowd(t)
	run.untilRenewed(1)
	run.signal(syscall.SIGTERM)
	run.ends(143)
	wantNoLock(t, run.store)
}

func TestACommandThatUsesUpAllProcessesIsStoppedWhenItsLockIsLost(t *testing.T) {
	t.Parallel()
	run := startCrowd(t)
	occupy(t, run.store)
	run.ends(76)
	if got := holder(t, run.store); got != "other" {
		t.Errorf("the lock is %v's", got)
	}
}

func TestACommandThatUsesUpAllProcessesLosesItsGuardAndContinues(t *testing.T) {
	t.Parallel()
	run := startCrowd(t)
	guard := guardOf(run.process)
	if guard == 0 {
		t.Fatal("there is no guard")
	}
	must(unix.Kill(guard, unix.SIGKILL))
	until(t, "a word of it", func() bool { return strings.Contains(run.stderr(), "guard ended") })
	run.untilRenewed(2)
	run.letEnd()
	run.ends(0)
	wantNoLock(t, run.store)
}
