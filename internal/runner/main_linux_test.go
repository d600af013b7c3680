package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/output"
	"redlockrun/internal/relay"
	"redlockrun/internal/runner"

	"golang.org/x/sys/unix"
)

// The test binary plays every part: the tests, redlockrun (wrapper), commands,
// and, without doing anything for it, the guard.
func TestMain(m *testing.M) {
	parts := map[string]func([]string) int{
		"wrapper": playWrapper, "signals": playSignals, "root": playRoot,
		"reaper": playReaper, "undumpable": playUndumpable, "deathsig": playDeathSignal, "oldkernel": playOldKernel,
		"powerless": playPowerless,
	}
	if len(os.Args) > 1 {
		if part, ok := parts[os.Args[1]]; ok {
			os.Exit(part(os.Args[2:]))
		}
	}
	leaveTerminal()
	forgetIgnored()
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every wrapper takes a second to end
	os.Exit(m.Run())
}

// leaveTerminal makes the terminal in which the tests are run no part of them: a
// command that is stopped would stop them.
func leaveTerminal() {
	if fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.IoctlSetInt(fd, unix.TIOCNOTTY, 0)
		_ = unix.Close(fd)
	}
}

// forgetIgnored lets the tests start as a program does that is called by a
// shell in the foreground: nohup(1) and "&" leave signals ignored, and so do
// posix_spawn(3) of the GNU C library, and make with it, the two that the
// library uses itself.
func forgetIgnored() {
	for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, 32, 33} {
		if sig >= 32 || signal.Ignored(sig) {
			relay.SetAction(sig, &relay.Action{}, nil)
		}
	}
}

// A script says what the wrapper does. It is passed as JSON in argv.
type script struct {
	NoGuard  bool
	Deadline time.Duration // of the guard, from the start; 0: none
	Grace    time.Duration
	Log      string        // lines about what happens in the wrapper
	Lost     bool          // Resumed says that the lock is lost
	Slow     bool          // Parked takes until another signal has come
	Stop     string        // the command is stopped when this file is there
	Proc     bool          // mounts a /proc of its own namespace first
	Resume   string        // Resumed takes until this file is there
	Copied   bool          // what the command writes is copied
	Extend   time.Duration // Resumed moves the guard's deadline to there from then on; 0: it does not
}

// playWrapper is redlockrun without a lock.
func playWrapper(args []string) int {
	signals := runner.Subscribe()
	var s script
	if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
		panic(err)
	}
	c := s.command(args[1:], signals)
	if s.Proc {
		mountProc()
	}
	if s.Stop != "" {
		go s.stopLater(c)
	}
	if !s.NoGuard {
		c.Guard = runner.StartGuard()
		defer c.Guard.Close()
		if err := c.Guard.Started(); err != nil {
			s.note(err.Error())
			return 71
		}
		if s.Deadline > 0 {
			c.Guard.Extend(boottime.Now().Add(s.Deadline))
		}
	}
	copied := func() {}
	if s.Copied {
		copied = copyOutput(c)
	}
	status, err := c.Run(context.Background(), signals)
	c.Guard.Close()
	copied()
	return s.end(status, err)
}

// copyOutput gives the command pipes that are copied, and returns what ends that.
func copyOutput(c *runner.Command) (end func()) {
	tap, err := output.New(nil, nil, 64<<10)
	if err != nil {
		panic(err)
	}
	c.Stdout, c.Stderr, c.Copied = tap.Stdout(), tap.Stderr(), tap.Threads()
	return func() {
		tap.End()
		_ = tap.Flush(context.Background())
	}
}

// command returns the command that the wrapper runs.
func (s script) command(argv []string, signals <-chan os.Signal) *runner.Command {
	marker := fmt.Sprintf("RUNNER_TEST_MARKER=%d.%d", os.Getpid(), time.Now().UnixNano())
	var c *runner.Command
	c = &runner.Command{
		Argv: argv, Env: append(os.Environ(), marker), Marker: marker, Grace: s.Grace,
		Parked: func() { s.note("parked"); s.linger(signals) },
		Resumed: func() error {
			s.note("resumed")
			s.awaitResume()
			if s.Extend > 0 {
				c.Guard.Extend(boottime.Now().Add(s.Extend))
			}
			if s.Lost {
				return &runner.StopError{Reason: errors.New("lost"), KillBy: boottime.Now()}
			}
			return nil
		},
		Warn: func(err error) { s.note("warning: " + err.Error()) },
	}
	return c
}

func (s script) awaitResume() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.Resume != "" && len(lines(s.Resume)) == 0 {
		<-tick.C
	}
}

// end is the wrapper's exit status.
func (s script) end(status runner.Status, err error) int {
	var start *runner.StartError
	if errors.As(err, &start) {
		s.note(err.Error())
		return start.Code
	}
	if err != nil {
		s.note("error: " + err.Error())
		return 99
	}
	s.note(fmt.Sprintf("ended: code %d signal %d stopped %v left %d",
		status.Code, status.Signal, status.Stopped, status.Left))
	status.Reraise()
	return status.Code
}

// linger waits for a signal and leaves it where it is.
func (s script) linger(signals <-chan os.Signal) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.Slow && len(signals) == 0 {
		<-tick.C
	}
}

// stopLater stops the command when the file is there.
func (s script) stopLater(c *runner.Command) {
	tick := time.NewTicker(5 * time.Millisecond)
	for range tick.C {
		if _, err := os.Stat(s.Stop); err == nil {
			c.Stop(&runner.StopError{Reason: errors.New("asked to")})
			return
		}
	}
}

func (s script) note(line string) {
	if s.Log == "" {
		return
	}
	appendLine(s.Log, line)
}

func appendLine(path, line string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

// wrapped is the command line of a wrapper around argv.
func wrapped(s script, argv ...string) []string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return append([]string{self(), "wrapper", string(text)}, argv...)
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// launch starts argv and sees to it that it is gone when the test ends.
func launch(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // in a group that may be orphaned it could not be stopped
	start(t, cmd)
	return cmd
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

// code waits for the end of cmd and is its exit status, 128+n for a signal.
func code(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// limit is how long a test waits for what must happen.
const limit = time.Minute

// eventually waits until happened says so.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limit)
	for !happened() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("this did not happen within %v: %s", limit, what)
		}
	}
}

// lines are the complete lines of a file, which may not exist yet.
func lines(path string) []string {
	text, _ := os.ReadFile(path)
	all := strings.Split(string(text), "\n")
	return all[:len(all)-1]
}

func hasLine(path, line string) bool { return count(path, line) > 0 }

func count(path, line string) (n int) {
	for _, l := range lines(path) {
		if l == line {
			n++
		}
	}
	return n
}

// hasPrefix reports whether a line of the file begins with prefix.
func hasPrefix(path, prefix string) bool {
	for _, l := range lines(path) {
		if strings.HasPrefix(l, prefix) {
			return true
		}
	}
	return false
}

// pidIn waits for a process to write its number to path.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	eventually(t, "a process number in "+filepath.Base(path), func() bool { return len(lines(path)) > 0 })
	pid, err := strconv.Atoi(lines(path)[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// exited reports whether a process has ended; a zombie has.
func exited(pid int) bool {
	state := stateOf(pid)
	return state == 0 || state == 'Z' || state == 'X'
}

// stateOf is the state letter of a process (proc(5)), 0 if there is none.
func stateOf(pid int) byte {
	f := statOf(pid)
	if len(f) == 0 {
		return 0
	}
	return f[0][0]
}

// freeze stops a process and waits until it stands still.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("process %d stands still", pid), func() bool { return stateOf(pid) == 'T' })
}

// thaw continues a process that stands still.
func thaw(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// statOf are the fields of /proc/PID/stat after the name.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, after, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	return strings.Fields(after)
}

// guardOf waits for the guard that belongs to a wrapper, other than those known.
func guardOf(t *testing.T, wrapper int, known ...int) (pid int) {
	t.Helper()
	eventually(t, "a guard", func() bool {
		pid = findGuard(wrapper, known)
		return pid != 0
	})
	return pid
}

func findGuard(wrapper int, known []int) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if slices.Contains(known, pid) {
			continue
		}
		cmdline, _ := os.ReadFile(dir + "/cmdline")
		if f := statOf(pid); len(f) < 2 || f[0] == "Z" || f[1] != strconv.Itoa(wrapper) {
			continue
		}
		if strings.HasPrefix(string(cmdline), "lease-guard\x00") {
			return pid
		}
	}
	return 0
}

// create makes a file that is closed with the test.
func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// shell is a command that runs a text.
func shell(text string, args ...string) *runner.Command {
	return &runner.Command{Argv: append([]string{"/bin/sh", "-c", text}, args...), Env: os.Environ()}
}

// execute runs a command in this process, without a guard.
func execute(t *testing.T, argv ...string) (runner.Status, error) {
	t.Helper()
	c := &runner.Command{Argv: argv, Env: os.Environ()}
	return c.Run(t.Context(), nil)
}

func shellQuote(words ...string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}
