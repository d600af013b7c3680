package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"redlockrun/internal/proof/ability"
)

// mounted runs text by a shell that is root of a namespace with mounts of its own; $1 is
// redlockrun, $2 a directory.
func mounted(t *testing.T, text string) (status int, stdout, stderr string) {
	t.Helper()
	ability.Need(t, ability.Namespaces)
	enter := []string{"--mount"}
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "unshare",
		append(enter, "sh", "-c", "set -e\n"+text, "sh", binary(t), t.TempDir())...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

func TestACopyThatCannotBeWrittenIsNotThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mount, why, hint string }{
		"full": {`mount -t tmpfs -o size=256k none "$2"`, "no space left on device",
			"the copy needs about 12 MB"},
		"read-only": {`mount -t tmpfs -o ro none "$2"`, "read-only file system", "mount a writable volume there"},
	} {
		status, left, said := mounted(t, c.mount+`
			status=0; "$1" copy-self "$2" || status=$?
			ls -A "$2"; umount "$2"; exit $status`)
		if status != 71 || left != "" || !strings.Contains(said, "/redlockrun: "+c.why+"\n") ||
			!strings.Contains(said, "hint: "+c.hint) {
			t.Errorf("%s: status %d, %q is left, said %s", name, status, left, said)
		}
	}
}

func TestACopyNeedsTheRightToWrite(t *testing.T) {
	t.Parallel()
	ability.Need(t, ability.Users)
	dir := t.TempDir()
	run := exec.CommandContext(t.Context(), binary(t), "copy-self", dir)
	if os.Getuid() == 0 {
		run = exec.CommandContext(t.Context(), "setpriv", "--bounding-set=-all", "--inh-caps=-all", binary(t),
			"copy-self", dir)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	said, err := run.CombinedOutput()
	if run.ProcessState.ExitCode() != 71 ||
		!strings.Contains(string(said), ": permission denied\nredlockrun: hint: user ") {
		t.Errorf("%v: %s", err, said)
	}
}
