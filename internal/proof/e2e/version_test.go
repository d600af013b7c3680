//go:build linux && e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What `make build` has built and what `go install` builds differ in symbols and collector alone.
func TestInstalledByGoItIsTheSameProgram(t *testing.T) {
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install", "-trimpath", "redlockrun/cmd/redlockrun")
	install.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"--help"}, {"help", "status"}} {
		made, installed := says(t, "../../../redlockrun", args...), says(t, filepath.Join(dir, "redlockrun"), args...)
		if made != installed {
			t.Errorf("%q: made it says\n%s\ninstalled\n%s", args, made, installed)
		}
	}
}

func TestTheProgramKnowsItsCommit(t *testing.T) {
	said, known := says(t, "../../../redlockrun", "--version"), false
	commit, err := exec.Command("../../../scripts/version.sh").Output()
	if err == nil { // else there is neither a repository that git reads nor VERSION
		known = strings.Contains(said, "commit "+strings.Fields(string(commit))[1])
	}
	if known != (err == nil) || known != strings.Contains(said, "commit ") {
		t.Errorf("%q, built from %s", said, commit)
	}
}

// says is what a program prints.
func says(t *testing.T, argv0 string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv0, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", argv0, args, err)
	}
	return string(out)
}
