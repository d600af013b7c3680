// Package ptytest drives a program at a terminal of its own, for tests: it types,
// and waits for what appears.
package ptytest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"

	"golang.org/x/sys/unix"
)

// limit is how long a test waits for what must appear.
const limit = time.Minute

// What the keyboard sends for a key that a terminal acts upon.
const (
	CtrlC         = "\x03"
	CtrlD         = "\x04"
	CtrlBackslash = "\x1c"
	CtrlZ         = "\x1a"
	Escape        = "\x1b"
)

// A Terminal is a pseudo-terminal with a program that leads its session.
type Terminal struct {
	t      testing.TB
	master *os.File
	cmd    *exec.Cmd
	read   chan struct{} // closed when nothing more can appear

	mu      sync.Mutex
	output  []byte
	seen    int           // up to here Expect has consumed the output
	changed chan struct{} // closed, and replaced, when there is more
}

// Start runs argv with env (nil: this process's own) as the leader of a new
// session whose controlling terminal is a new pseudo-terminal of 80 by 24. When the
// test ends, the terminal is hung up and the program killed.
func Start(t testing.TB, env []string, argv ...string) *Terminal {
	t.Helper()
	master, slave := open(t)
	defer slave.Close()
	term := &Terminal{t: t, master: master, read: make(chan struct{}), changed: make(chan struct{})}
	term.cmd = exec.Command(argv[0], argv[1:]...)
	term.cmd.Env = env
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = slave, slave, slave
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go term.follow()
	t.Cleanup(term.hangUp)
	return term
}

// Shell starts an interactive bash, as ShellNamed does.
func Shell(t testing.TB, env ...string) *Terminal {
	t.Helper()
	return ShellNamed(t, "bash", env...)
}

// ShellNamed starts one of Shells as an interactive shell with job control,
// without the user's own settings and, where there is a choice, without line
// editing, and waits for its prompt.
func ShellNamed(t testing.TB, name string, env ...string) *Terminal {
	t.Helper()
	env = append(os.Environ(), append(env, "PS1=$ ", "TERM=xterm", "HISTFILE=", "LESS=", "LC_ALL=C",
		"HOME="+t.TempDir())...)
	term := Start(t, env, shells[name]...)
	term.Expect("$ ")
	return term
}

// Shells are the names of the shells that ShellNamed knows.
var Shells = []string{"bash", "dash", "zsh", "fish"}

var shells = map[string][]string{
	"bash": {"/bin/bash", "--norc", "--noprofile", "--noediting", "-i"},
	"dash": {"dash", "-i"},
	"zsh":  {"zsh", "-f", "-i", "-o", "NO_ZLE", "-o", "NO_PROMPT_SP", "-o", "NO_PROMPT_CR"},
	"fish": {"fish", "--no-config", "--private", "-i", "-C", `function fish_prompt; printf '$ '; end`},
}

func open(t testing.TB) (master, slave *os.File) {
	t.Helper()
	ability.Need(t, ability.Terminal)
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal("open /dev/ptmx:", err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// follow collects what appears until the last process has closed the terminal.
func (term *Terminal) follow() {
	defer close(term.read)
	buf := make([]byte, 4096)
	for {
		n, err := term.master.Read(buf)
		term.mu.Lock()
		term.output = append(term.output, buf[:n]...)
		close(term.changed)
		term.changed = make(chan struct{})
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Type types text.
func (term *Terminal) Type(text string) {
	term.t.Helper()
	if _, err := term.master.WriteString(text); err != nil {
		term.t.Fatal(err)
	}
}

// Expect waits until text appears behind what was expected before, and returns
// what came in between. What is typed appears too, so text should differ from it.
func (term *Terminal) Expect(text string) string {
	term.t.Helper()
	late := time.After(limit)
	for {
		term.mu.Lock()
		at := bytes.Index(term.output[term.seen:], []byte(text))
		if at >= 0 {
			between := string(term.output[term.seen : term.seen+at])
			term.seen += at + len(text)
			term.mu.Unlock()
			return between
		}
		changed, rest := term.changed, string(term.output[term.seen:])
		term.mu.Unlock()
		select {
		case <-changed:
		case <-late:
			term.t.Fatalf("%q did not appear within %v; this did: %q", text, limit, rest)
		}
	}
}

// Output is all that has appeared so far.
func (term *Terminal) Output() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.output)
}

// Resize changes the size of the window.
func (term *Terminal) Resize(rows, columns uint16) {
	term.t.Helper()
	term.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
}

// Settings are what stty(1) shows and changes.
func (term *Terminal) Settings() (settings unix.Termios) {
	term.t.Helper()
	term.control(func(fd int) error {
		s, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			settings = *s
		}
		return err
	})
	return settings
}

// Foreground is the number of the foreground process group.
func (term *Terminal) Foreground() (group int) {
	term.t.Helper()
	term.control(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group
}

func (term *Terminal) control(f func(fd int) error) {
	term.t.Helper()
	raw, err := term.master.SyscallConn()
	if err != nil {
		term.t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil || failed != nil {
		term.t.Fatal(err, failed)
	}
}

// Pid is the number of the program that leads the session.
func (term *Terminal) Pid() int { return term.cmd.Process.Pid }

// Wait waits for the end of the program and returns its exit status, 128+n if signal n ended it.
func (term *Terminal) Wait() int {
	term.t.Helper()
	_ = term.cmd.Wait() // the status says more
	status := term.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// Hangup closes the line, as when the user closes the window.
func (term *Terminal) Hangup() { _ = term.master.Close() }

// hangUp ends all there is at the terminal: its session gets SIGHUP from the
// kernel when the master is closed.
func (term *Terminal) hangUp() {
	if term.cmd.ProcessState == nil {
		_ = term.cmd.Process.Kill()
		_ = term.cmd.Wait()
	}
	_ = term.master.Close()
	<-term.read
}
