package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"redlockrun/internal/boottime"
	"redlockrun/internal/runner"

	"golang.org/x/sys/unix"
)

// A family is a wrapper, its command, and a grandchild that ignores everything.
type family struct {
	wrapper             *exec.Cmd
	command, grandchild int
	log                 string
}

// startFamily starts a family.
func startFamily(t *testing.T, s script) family {
	t.Helper()
	dir := t.TempDir()
	command, grandchild := filepath.Join(dir, "command"), filepath.Join(dir, "grandchild")
	s.Log = filepath.Join(dir, "log")
	text := `trap '' TERM INT HUP; sleep 1000 & echo $! >"$1"; echo $$ >"$0"; while :; do wait; done`
	f := family{wrapper: launch(t, wrapped(s, "/bin/sh", "-c", text, command, grandchild)...), log: s.Log}
	f.command, f.grandchild = pidIn(t, command), pidIn(t, grandchild)
	t.Cleanup(func() { _ = unix.Kill(-f.command, unix.SIGKILL) })
	return f
}

func (f family) exited() bool { return exited(f.command) && exited(f.grandchild) }

func (f family) isGone(t *testing.T) {
	t.Helper()
	eventually(t, "command and grandchild are gone", f.exited)
}

func TestNothingOutlivesAKilledWrapper(t *testing.T) {
	f := startFamily(t, script{})
	guard := guardOf(t, f.wrapper.Process.Pid)
	send(t, f.wrapper, unix.SIGKILL)
	f.isGone(t)
	eventually(t, "the guard ends", func() bool { return exited(guard) })
}

// prctl(PR_GET_PDEATHSIG) of the command returns the same as without redlockrun.
func TestTheCommandHasNoParentDeathSignal(t *testing.T) {
	got := filepath.Join(t.TempDir(), "got")
	if c := code(t, launch(t, wrapped(script{}, self(), "deathsig", got)...)); c != 0 {
		t.Fatal(c)
	}
	if signals := lines(got); len(signals) != 1 || signals[0] != "0" {
		t.Errorf("got %v, want none", signals)
	}
}

// playDeathSignal writes the parent-death signal of this process into args[0].
func playDeathSignal(args []string) int {
	var sig int32
	if err := unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&sig)), 0, 0, 0); err != nil {
		panic(err)
	}
	appendLine(args[0], strconv.Itoa(int(sig)))
	return 0
}

func TestAFrozenWrapperLosesItsCommandAtTheDeadline(t *testing.T) {
	f := startFamily(t, script{Deadline: 3 * time.Second})
	send(t, f.wrapper, unix.SIGSTOP)
	f.isGone(t)
	send(t, f.wrapper, unix.SIGCONT)
	if c := code(t, f.wrapper); c != 137 {
		t.Errorf("got status %d, want 137", c)
	}
}

func TestWithoutADeadlineAFrozenWrapperKeepsItsCommand(t *testing.T) {
	f := startFamily(t, script{})
	guard := guardOf(t, f.wrapper.Process.Pid)
	send(t, f.wrapper, unix.SIGSTOP)
	eventually(t, "the wrapper stands still", func() bool { return stateOf(f.wrapper.Process.Pid) == 'T' })
	for _, sig := range []syscall.Signal{
		unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGUSR1, unix.SIGALRM, unix.SIGTSTP, 40,
	} {
		if err := unix.Kill(guard, sig); err != nil {
			t.Fatal(err)
		}
	}
	if f.exited() || exited(guard) || stateOf(guard) == 'T' {
		t.Error("the guard can be signalled")
	}
}

func TestTheRunnerReplacesAKilledGuard(t *testing.T) {
	f := startFamily(t, script{})
	var known []int
	for range 3 {
		guard := guardOf(t, f.wrapper.Process.Pid, known...)
		known = append(known, guard)
		if err := unix.Kill(guard, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	last := guardOf(t, f.wrapper.Process.Pid, known...)
	eventually(t, "the user is told", func() bool {
		n := 0
		for _, line := range lines(f.log) {
			if strings.HasPrefix(line, "warning: the guard ended (killed)") {
				n++
			}
		}
		return n == 3
	})
	if exited(f.command) || exited(f.grandchild) {
		t.Fatal("the command did not survive its guard")
	}
	eventually(t, "the new guard is on watch", func() bool { return onWatch(last) })
	send(t, f.wrapper, unix.SIGKILL)
	f.isGone(t)
}

// onWatch reports whether a guard has got as far as to its timer.
func onWatch(guard int) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", guard))
	for _, link := range links {
		if target, _ := os.Readlink(link); strings.Contains(target, "timerfd") {
			return true
		}
	}
	return false
}

func TestAReplacementGuardKnowsTheDeadline(t *testing.T) {
	f := startFamily(t, script{Deadline: 3 * time.Second})
	first := guardOf(t, f.wrapper.Process.Pid)
	if err := unix.Kill(first, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	guardOf(t, f.wrapper.Process.Pid, first)
	f.isGone(t)
}

func TestTheGuardIsAloneAndSmall(t *testing.T) {
	pipe, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	dir := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", `exec "$@" 9>&3`, "sh")
	const sleeps = `echo $$ >"$0"; exec sleep 1000`
	cmd.Args = append(cmd.Args, wrapped(script{}, "/bin/sh", "-c", sleeps, filepath.Join(dir, "pid"))...)
	cmd.ExtraFiles = []*os.File{inherited}
	start(t, cmd)
	inherited.Close()
	pidIn(t, filepath.Join(dir, "pid"))
	guard := guardOf(t, cmd.Process.Pid)
	eventually(t, "the guard is on watch", func() bool { return onWatch(guard) })

	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", guard))
	if err != nil || len(fds) != 6 { // 0 to 2 on /dev/null, two pipes, a timer
		t.Errorf("descriptors: %v, %v", fds, err)
	}
	if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", guard)); cwd != "/" {
		t.Errorf("works in %s", cwd)
	}
	stat := statOf(guard)
	if pid := strconv.Itoa(guard); stat[2] != pid || stat[3] != pid {
		t.Errorf("group %s, session %s, want its own %s", stat[2], stat[3], pid)
	}
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", guard))
	if text := string(environ); text != "GOMAXPROCS=1\x00GOGC=off\x00" {
		t.Errorf("environment %q", text)
	}
}

// The pipe that $(...) reads ends with the command, not with the guard.
func TestTheGuardDoesNotHoldTheOutput(t *testing.T) {
	argv := wrapped(script{}, "/bin/echo", "hello")
	out, err := exec.Command("/bin/sh", "-c", `x=$(`+shellQuote(argv...)+`); echo "[$x]"`).Output()
	if err != nil || string(out) != "[hello]\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestTheGuardHoldsWhatItIsGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	startGuard(t, create(t, path))
	guard := guardOf(t, os.Getpid())
	eventually(t, "the guard is on watch", func() bool { return onWatch(guard) })
	if target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/5", guard)); target != path {
		t.Errorf("holds %q, want %q", target, path)
	}
}

// startGuard starts a guard that is ended with the test.
func startGuard(t *testing.T, keep ...*os.File) *runner.Guard {
	t.Helper()
	g := runner.StartGuard(keep...)
	t.Cleanup(g.Close)
	if err := g.Started(); err != nil {
		t.Fatal(err)
	}
	return g
}

// A guard that may be acting has exited before other processes can get the number of the command's
// group; one with a distant deadline cannot be acting.
func TestADisarmedGuardThatMayBeActingIsGone(t *testing.T) {
	for range 20 {
		g := startGuard(t)
		g.Extend(boottime.Now().Add(500 * time.Millisecond))
		g.Disarm()
		if !g.Ended() {
			t.Fatal("it may still kill a group")
		}
	}
}

func TestAGuardForAFileThatIsClosedAlreadyIsNotStarted(t *testing.T) {
	f := create(t, filepath.Join(t.TempDir(), "lock"))
	f.Close()
	before := openFiles(t)
	g := runner.StartGuard(f)
	if g.Started() == nil {
		t.Error("no error")
	}
	g.Close()
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors are left", after-before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// guarded runs a shell text in this process, with a guard.
func guarded(t *testing.T, text string, args ...string) (runner.Status, error) {
	t.Helper()
	g := startGuard(t)
	defer g.Close()
	c := shell(text, args...)
	c.Guard = g
	return c.Run(t.Context(), nil)
}

func TestTheGuardLeavesAloneWhatTheCommandLeaves(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	s, err := guarded(t, `sleep 1000 & echo $! >"$0"`, pid)
	left := pidIn(t, pid)
	defer unix.Kill(left, unix.SIGKILL)
	if err != nil || s.Code != 0 || s.Left != 1 || exited(left) {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestGuardsAreReaped(t *testing.T) {
	for range 20 {
		if s, err := guarded(t, "exit 3"); err != nil || s.Code != 3 {
			t.Fatal(s, err)
		}
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

func TestExtendMovesTheDeadline(t *testing.T) {
	g := startGuard(t)
	g.Extend(boottime.Now().Add(-time.Hour)) // before there is a group
	g.Extend(boottime.Now().Add(time.Hour))
	pid := filepath.Join(t.TempDir(), "pid")
	c := shell(`echo $$ >"$0"; exec sleep 1000`, pid)
	c.Guard = g
	result := make(chan runner.Status, 1)
	go func() {
		s, _ := c.Run(t.Context(), nil)
		result <- s
	}()
	pidIn(t, pid)
	for n := range 2000 { // more than a pipe holds
		g.Extend(boottime.Now().Add(time.Hour + time.Duration(n)))
	}
	select {
	case s := <-result:
		t.Fatalf("killed before its deadline: %+v", s)
	default:
	}
	g.Extend(boottime.Now())
	if s := <-result; s.Signal != unix.SIGKILL {
		t.Errorf("got %+v", s)
	}
}

// A guard that stood still for a time must not act on what it was told then.
func TestAFrozenGuardWakesUpToTheLastDeadline(t *testing.T) {
	f := startGuarded(t)
	eventually(t, "the guard is on watch", func() bool { return onWatch(f.guard) })
	freeze(t, f.guard)
	for n := range 100 {
		f.g.Extend(boottime.Now().Add(time.Duration(n) * time.Microsecond))
	}
	f.g.Extend(boottime.Now().Add(time.Hour))
	thaw(t, f.guard)
	f.obeys(t)
	if exited(f.command) {
		t.Error("the command was killed")
	}
}

// As many orders as a guard reads at once are all there is.
func TestADeadlineAtTheEndOfAFullReadCounts(t *testing.T) {
	f := startGuarded(t)
	eventually(t, "the guard is on watch", func() bool { return onWatch(f.guard) })
	freeze(t, f.guard)
	for range 15 {
		f.g.Extend(boottime.Now().Add(time.Hour))
	}
	f.g.Extend(boottime.Now())
	thaw(t, f.guard)
	eventually(t, "the command is dead", func() bool { return exited(f.command) })
}

// So many orders fill the pipe: the guard is of no use, and replaced.
func TestAGuardThatDoesNotReadIsReplaced(t *testing.T) {
	f := startGuarded(t)
	if err := unix.Kill(f.guard, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		f.g.Extend(boottime.Now().Add(time.Hour))
	}
	guardOf(t, os.Getpid(), f.guard)
	if exited(f.command) {
		t.Error("the command was killed")
	}
}

// A guardedCommand is a command of this process, with its guard.
type guardedCommand struct {
	g              *runner.Guard
	guard, command int
}

func startGuarded(t *testing.T) guardedCommand {
	t.Helper()
	g := startGuard(t)
	pid := filepath.Join(t.TempDir(), "pid")
	ended := make(chan struct{})
	c := shell(`echo $$ >"$0"; exec sleep 1000`, pid)
	c.Guard = g
	go func() {
		defer close(ended)
		_, _ = c.Run(t.Context(), nil) // t.Context ends before the cleanups
	}()
	t.Cleanup(func() { <-ended })
	return guardedCommand{g, guardOf(t, os.Getpid()), pidIn(t, pid)}
}

// obeys waits until the guard has done what it was told: it reads an order when it is
// ready with those before.
func (f guardedCommand) obeys(t *testing.T) {
	t.Helper()
	for range 2 {
		f.g.Extend(boottime.Now().Add(time.Hour))
		eventually(t, "the guard has read its orders", func() bool {
			n, err := f.g.Unread()
			return err != nil || n == 0 // there is no guard any more when the command has been killed
		})
	}
}

func TestACommandThatCannotBeStartedLeavesNoGuard(t *testing.T) {
	g := startGuard(t)
	c := &runner.Command{Argv: []string{"/no/such/command"}, Guard: g}
	if _, err := c.Run(t.Context(), nil); err == nil {
		t.Error("no error")
	}
	g.Close()
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

func TestCloseEndsAGuardThatStandsStill(t *testing.T) {
	g := startGuard(t)
	freeze(t, guardOf(t, os.Getpid()))
	g.Close()
	g.Close()
}

// The guard leaves a suspended job alone, although its lease ends, unless another process
// continues it without the wrapper, which cannot ask for the lease.
func TestTheGuardLeavesAParkedCommandAloneUntilItRuns(t *testing.T) {
	f := startFamily(t, script{Deadline: 2 * time.Second})
	guard := guardOf(t, f.wrapper.Process.Pid)
	send(t, f.wrapper, unix.SIGTSTP)
	eventually(t, "all stand still", func() bool {
		return stateOf(f.wrapper.Process.Pid) == 'T' && stateOf(f.command) == 'T'
	})
	before := wakeUps(t, guard)
	eventually(t, "the guard has looked twice after the deadline", func() bool { return wakeUps(t, guard) >= before+3 })
	if f.exited() {
		t.Fatal("a parked command was killed")
	}
	thaw(t, f.grandchild)
	f.isGone(t)
}

// The next guard has to know it, too.
func TestAReplacementGuardLeavesAParkedCommandAlone(t *testing.T) {
	f := startGuarded(t)
	freeze(t, f.command)
	f.g.Park()
	f.g.Extend(boottime.Now())
	if err := unix.Kill(f.guard, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	next := guardOf(t, os.Getpid(), f.guard)
	eventually(t, "the next guard is on watch", func() bool { return onWatch(next) })
	before := wakeUps(t, next)
	eventually(t, "it has looked twice after the deadline", func() bool { return wakeUps(t, next) >= before+3 })
	if exited(f.command) {
		t.Error("a parked command was killed")
	}
}

// A command that is not wanted any more lives no longer because a renewal comes.
func TestNoLaterDeadlineSavesACommandThatIsNotWanted(t *testing.T) {
	f := startGuarded(t)
	eventually(t, "the guard is on watch", func() bool { return onWatch(f.guard) })
	freeze(t, f.guard)
	f.g.KillNow()
	f.g.Extend(boottime.Now().Add(time.Hour))
	thaw(t, f.guard)
	eventually(t, "the command is dead", func() bool { return exited(f.command) })
}

// wakeUps returns how often a process has slept.
func wakeUps(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:\t")
	line, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The starter says so before it continues a parked command, and the guard, which
// may be looking at that moment, has to see both in that order.
func TestASuspendedCommandContinuedByItsStarterLives(t *testing.T) {
	f := startGuarded(t)
	for n := range 200 {
		if n%50 == 0 {
			f.obeys(t) // more than a pipe holds would let it be replaced
		}
		freeze(t, f.command)
		f.g.Park()
		f.g.Extend(boottime.Now())
		f.g.Extend(boottime.Now().Add(time.Hour))
		f.g.Unpark()
		thaw(t, f.command)
	}
	f.obeys(t)
	if exited(f.command) {
		t.Error("the command was killed")
	}
}
