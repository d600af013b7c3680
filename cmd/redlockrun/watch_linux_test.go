package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/ptytest"
	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// remember lets a server know a job, of which nothing runs.
func remember(t *testing.T, srv *redistest.Server, name string, how lock.EndKind, status int) {
	t.Helper()
	keys := wire.KeysOf(lock.DefaultPrefix, name, "")
	ended := time.Now().Add(-5 * time.Minute)
	last := wire.EntryText(lock.Entry{
		Run: lock.NewRunID(), Host: "web-3", User: "alice", PID: 4121, Command: "php", Attempts: 1, Fence: 7,
		Asked: ended.Add(-126 * time.Second), At: ended.Add(-125 * time.Second), Ended: ended, End: how, Status: status,
	})
	for _, words := range [][]any{
		{"ZADD", keys.Jobs, time.Now().UnixMilli(), name}, {"HSET", keys.Job, "last", last, "mean", "1 125000"},
		{"LPUSH", keys.Runs, last},
	} {
		if _, err := srv.Do(words...); err != nil {
			t.Fatal(err)
		}
	}
}

// A watcher is a person who watches jobs.
type watcher struct {
	*shellSession
	before unix.Termios
}

const watching = "q ends"

// watched is a desk at which two jobs are watched.
func watched(t *testing.T) watcher {
	t.Helper()
	w := watcher{shellSession: bash(t)}
	remember(t, w.server, "orders", lock.EndOk, 0)
	remember(t, w.server, "report", lock.EndFailed, 1)
	w.shell()
	w.before = w.Settings()
	w.Type("redlockrun status --watch --every 0.1; echo en''ded $?\n")
	w.Expect(watching)
	w.Expect("failed 1")
	if w.Settings().Lflag&(unix.ICANON|unix.ECHO) != 0 {
		t.Error("keys are read by the line")
	}
	return w
}

// ends fails the test unless the watch ends with a status and leaves the terminal as it was.
func (w watcher) ends(status int) {
	w.t.Helper()
	w.Expect("\x1b[?25h\x1b[?1049l") // the cursor, and the page before
	w.Expect(fmt.Sprintf("ended %d", status))
	w.isAsBefore()
}

func (w watcher) isAsBefore() {
	w.t.Helper()
	w.shell()
	if after := w.Settings(); after != w.before {
		w.t.Errorf("settings %+v, they were %+v", after, w.before)
	}
}

func TestAWatchLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	t.Run("q", func(t *testing.T) {
		w := watched(t)
		w.Type("xq")
		w.ends(0)
	})
	t.Run("interrupt", func(t *testing.T) {
		w := watched(t)
		w.Type(ptytest.CtrlC)
		w.ends(0)
	})
	t.Run("quit", func(t *testing.T) {
		w := watched(t)
		w.Type(ptytest.CtrlBackslash)
		w.ends(131)
	})
	t.Run("terminate", func(t *testing.T) {
		w := watched(t)
		if err := syscall.Kill(w.program("redlockrun"), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		w.ends(0)
	})
}

func TestAWatchCanBeSuspendedAndResumed(t *testing.T) {
	w := watched(t)
	for range 3 {
		w.Type(ptytest.CtrlZ)
		w.Expect("\x1b[?25h\x1b[?1049l")
		w.isAsBefore()
		w.Type("fg\n")
		w.Expect("\x1b[?1049h")
		w.Expect(watching)
		w.program("redlockrun")
		until(t, "keys that are read one by one", func() bool { return w.Settings().Lflag&unix.ICANON == 0 })
	}
	w.Type("q")
	w.Expect("\x1b[?25h\x1b[?1049l")
	w.isAsBefore()
}

func TestAWatchFitsAWindowThatChanges(t *testing.T) {
	w := watched(t)
	w.Expect("LAST")
	w.Resize(24, 40)
	drawn(w, func(page string) bool { return strings.Contains(page, "report") && !strings.Contains(page, "LAST") })
	w.Resize(2, 200)
	drawn(w, func(page string) bool {
		return strings.Contains(page, "and 1 more needing attention, 1 idle") && !strings.Contains(page, "report")
	})
	w.Resize(24, 200)
	drawn(w, func(page string) bool { return strings.Contains(page, "AVERAGE") })
	w.Type("q")
	w.ends(0)
}

// drawn waits until a page is drawn that is as it should be.
func drawn(w watcher, right func(page string) bool) {
	w.t.Helper()
	w.Expect("\x1b[H")
	until(w.t, "the page", func() bool { return right(w.Expect("\x1b[H")) })
}

func TestAWatchOutlivesAnOutage(t *testing.T) {
	w := watched(t)
	w.server.Kill()
	w.Expect("trying again: cannot ask Redis at ")
	drawn(w, func(page string) bool {
		return strings.Contains(page, "trying again") && strings.Contains(page, "report")
	})
	if err := w.server.Restart(false); err != nil {
		t.Fatal(err)
	}
	remember(t, w.server, "after", lock.EndOk, 0)
	drawn(w, func(page string) bool {
		return strings.Contains(page, "after") && !strings.Contains(page, "trying again")
	})
	w.Type("q")
	w.ends(0)
}

func TestStatusFitsTheTerminal(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	for range 30 {
		remember(t, srv, "a-job-of-thirty-four-characters-"+lock.NewRunID()[24:], lock.EndFailed, 3)
	}
	remember(t, srv, "job", lock.EndFailed, 3)
	for _, color := range []bool{true, false} {
		for _, columns := range []int{60, 80, 200} {
			for _, command := range []string{"status", "status job", "history job"} {
				lines := seenAt(t, srv, columns, color, command)
				for _, line := range lines {
					if width := console.Width(plain(line)); width > columns {
						t.Errorf("%s: %d columns in %d: %q", command, width, columns, line)
					}
				}
				text := strings.Join(lines, "\n")
				if strings.Contains(text, "\x1b[") != color || !strings.Contains(text, "job") && command == "status" {
					t.Errorf("%s, colours %v: %q", command, color, text)
				}
			}
		}
	}
}

// seenAt returns what a command shows on a terminal.
func seenAt(t *testing.T, srv *redistest.Server, columns int, color bool, command string) []string {
	t.Helper()
	env := append(os.Environ(), config.FileVar+"=/dev/null", "REDLOCKRUN_REDIS="+srv.URL(), "TERM=xterm", "NO_COLOR=")
	if !color {
		env = append(env, "NO_COLOR=1")
	}
	program := filepath.Join(filepath.Dir(binary(t)), "redlockrun")
	term := ptytest.Start(t, env, "/bin/sh", "-c", "read go; "+program+" "+command+"; echo ov''er; read go")
	term.Resize(24, uint16(columns))
	term.Type("\n")
	term.Expect("\r\n")
	text := term.Expect("over")
	return strings.Split(strings.TrimRight(text, "\r\n"), "\r\n")
}

var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain is a line without its colours.
func plain(line string) string { return colors.ReplaceAllString(line, "") }
