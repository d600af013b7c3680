package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

// launchOutside is launch in a PID namespace whose processes belong to a session
// and a group of its surroundings, as when a container is entered by nsenter(1). Both
// have the number 0 there.
func launchOutside(t testing.TB, url string, args ...string) *process {
	t.Helper()
	return launchCommand(t, url, outsideCommand(t, args...))
}

func outsideCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	ability.Need(t, ability.Namespaces)
	enter := []string{"--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	enter = append(enter, "sh", "-c", `"$@"; exit $?`, "sh", binary(t))
	return exec.Command("unshare", append(enter, args...)...)
}

// The foreground group of no terminal and a group outside of the namespace are
// both 0; that does not make them the same.
func TestInAForeignGroupStoppingTheCommandDoesNotStopTheRun(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	resumed := filepath.Join(t.TempDir(), "resumed")
	run := launchOutside(t, s.URL(), "-k", "job", "--ttl", "3", "--renew-every", "0.3", "-c",
		`(sleep 4; : >`+resumed+`; kill -CONT $$) & kill -STOP $$; wait; exit 5`)
	run.ends(5)
	run.wantSilent()
	if !exists(resumed) {
		t.Error("it was continued too early")
	}
}

// In a PID namespace without a /proc of its own no process of the command is visible.
func TestWithHiddenProcTheRestOfAStoppedCommandIsKilled(t *testing.T) {
	t.Parallel()
	ability.Need(t, ability.Namespaces)
	s := redistest.Start(t, redistest.Options{})
	file := filepath.Join(t.TempDir(), "beats")
	enter := []string{"--pid", "--fork", "--kill-child"}
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	const text = `trap "exit 3" TERM; (trap "" TERM; ` + beats + `) & wait`
	enter = append(enter, "sh", "-c", `"$@"; : >"$0.ended"; while :; do sleep 1; done`, file, binary(t),
		"-k", "job", "--ttl", "2", "--max-runtime", "1", "sh", "-c", text, file)
	launchCommand(t, s.URL(), exec.Command("unshare", enter...))
	until(t, "the end of the run", func() bool { return exists(file + ".ended") })
	processGroup{beats: file}.beatsNotBeside(t, s)
}
