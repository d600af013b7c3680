package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// A kill of redlockrun by its name spares the guard.
func TestKillingRedlockrunByNameSparesTheGuard(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]string{
		"a pattern": "pkill -9 redlockrun", "a pattern in the command line": "pkill -9 -f redlockrun",
		"a name": "killall -9 redlockrun",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			ready := filepath.Join(t.TempDir(), "ready")
			shell, living := launchIn(t, s.URL(), "-k", "job", "--ttl", "600", "-c", "sleep 1000 & : >"+ready+"; wait")
			until(t, "the command", func() bool { return exists(ready) })
			if _, err := io.WriteString(shell, by+"\n"); err != nil {
				t.Fatal(err)
			}
			if err := living.SetReadDeadline(time.Now().Add(patience)); err != nil { // long before the guard's deadline
				t.Fatal(err)
			}
			if _, err := living.Read(make([]byte, 1)); err != io.EOF {
				t.Fatalf("the command lives on: %v", err)
			}
		})
	}
}

// launchIn runs redlockrun in a PID namespace of its own, where no other process has that name. A
// shell reads commands there. The other pipe ends when redlockrun and its processes are dead,
// except the guard, which does not hold it.
func launchIn(t *testing.T, url string, args ...string) (shell io.Writer, living *os.File) {
	t.Helper()
	ability.Need(t, ability.Namespaces)
	path := filepath.Join(t.TempDir(), "living")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	living, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { living.Close() })
	input, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	enter := []string{"--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	enter = append(enter, "sh", "-c", `"$@" </dev/null 3>"$0" & while read line; do eval "$line"; done`, path,
		binary(t))
	cmd := exec.Command("unshare", append(enter, args...)...)
	cmd.Stdin = input
	launchCommand(t, url, cmd)
	input.Close()
	t.Cleanup(func() { commands.Close() })
	return commands, living
}
