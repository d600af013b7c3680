package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// playPowerless is a wrapper whose system calls are filtered: it may send no signal.
func playPowerless(args []string) int {
	forbid(unix.SYS_KILL, unix.EPERM)
	return playWrapper(args)
}

// It could neither stop the command nor pass signals on to it, and its guard could not be ended.
func TestWhoMaySendNoSignalStartsNothing(t *testing.T) {
	dir := t.TempDir()
	log, ran := filepath.Join(dir, "log"), filepath.Join(dir, "ran")
	argv := wrapped(script{Log: log}, "touch", ran)
	argv[1] = "powerless"
	const want = "cannot run touch: start guard: send signal: operation not permitted"
	if c := code(t, launch(t, argv...)); c != 71 || !hasPrefix(log, want) {
		t.Errorf("status %d, said %q", c, lines(log))
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command ran")
	}
}
