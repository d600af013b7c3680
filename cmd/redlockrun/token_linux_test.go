package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

// tokens makes a server's user alice one whose passwords die after two seconds, with the
// connections that were made with them, until the test ends. What comes back is a command that
// prints the present one.
func tokens(t *testing.T, s *redistest.Server) (command string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	next := func(n int) {
		_, err := s.Do("ACL", "SETUSER", "alice", "on", "resetpass", fmt.Sprintf(">token%d", n), "~*", "&*", "+@all")
		if err == nil {
			err = os.WriteFile(file+".new", []byte("token"+strconv.Itoa(n)+"\n"), 0o600)
		}
		if err == nil {
			err = os.Rename(file+".new", file)
		}
		if err == nil {
			_, err = s.Do("CLIENT", "KILL", "USER", "alice")
		}
		if err != nil {
			t.Error(err)
		}
	}
	next(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(2 * time.Second)
		defer ticker.Stop()
		for n := 1; ; n++ {
			select {
			case <-ticker.C:
				next(n)
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	return "cat " + file
}

// alice is the URL of a server for that user.
func alice(s *redistest.Server) string { return "redis://alice@" + s.Addr() }

func TestAJobOutlivesItsTokens(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	command := tokens(t, s)
	run := launch(t, alice(s), "-k", "job", "--ttl", "20", "--renew-every", "1", "--redis-timeout", "30",
		"--redis-password-command", command, "-c", "sleep 4; exit 5")
	run.ends(5)
	wantNoLock(t, s)
}

// Waiters, too, have connections that die.
func TestAWaiterOutlivesItsTokens(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	command := tokens(t, s)
	flags := []string{"-k", "job", "--ttl", "20", "--renew-every", "1", "--redis-timeout", "30",
		"--redis-password-command", command}
	ready := filepath.Join(t.TempDir(), "ready")
	first := launch(t, alice(s), append(flags, "-c", ": >"+ready+"; sleep 4")...)
	until(t, "the first", func() bool { return exists(ready) })
	second := launch(t, alice(s), append(flags, "--wait", "forever", "-c", "exit 5")...)
	first.ends(0)
	second.ends(5)
}

// As PID 1 others reap: before the command the kernel, and then the goroutine that waits for it.
func TestAsPID1APasswordCommandIsRead(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	command := tokens(t, s)
	run := launchInit(t, alice(s), "-k", "job", "--ttl", "20", "--renew-every", "1", "--redis-timeout", "30",
		"--redis-password-command", "sh -c '"+command+"' || exit 9", "-c", "sleep 3; exit 5")
	run.ends(5)
	wantNoLock(t, s)
	run = launchInit(t, alice(s), "-k", "job", "--redis-timeout", "1", "--redis-password-command",
		"sh -c 'exit 7' && exit 8; exit 9", "true")
	run.ends(69)
	if said := run.stderr(); !strings.Contains(said, "the password command has ended with status 9") {
		t.Error(said)
	}
}

// The supervisor ends what a run that is killed leaves of its password command.
func TestAPasswordCommandDiesWithAKilledRun(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	pid := filepath.Join(t.TempDir(), "pid")
	run := launch(t, s.URL(), "-k", "job", "--redis-timeout", "60",
		"--redis-password-command", "sleep 1000 & echo $! >"+pid+".new; mv "+pid+".new "+pid+"; wait", "true")
	until(t, "the command", func() bool { return exists(pid) })
	run.kill()
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	sleeper, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "its end", func() bool { return stateOf(sleeper) == 0 || stateOf(sleeper) == 'Z' })
}

// All masters of a quorum take the same token.
func TestAQuorumTakesItsTokens(t *testing.T) {
	t.Parallel()
	m := redistest.StartMasters(t, 3, redistest.Options{Users: []string{"alice on >token ~* &* +@all"}})
	var flags []string
	for _, s := range m.Servers {
		flags = append(flags, "--redis", alice(s))
	}
	flags = append(flags, "-k", "job", "--durable", "--redis-timeout", "30")
	run := launch(t, "", append(flags, "--redis-password-command", "echo token", "-c", "exit 5")...)
	run.ends(5)
	run = launch(t, "", append(flags, "--redis-password-command", "exit 1; echo token", "--redis-timeout", "1",
		"true")...)
	run.ends(69)
	if said := run.stderr(); !strings.Contains(said, "2 of 3 are needed") ||
		!strings.Contains(said, "has ended with status 1") {
		t.Error(said)
	}
}
