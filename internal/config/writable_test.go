package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A user who may write the file may make root run a command.
func TestAConfigurationFileThatOtherUsersMayWrite(t *testing.T) {
	const command, plain = "REDLOCKRUN_REDIS_PASSWORD_COMMAND='echo pw'\n", "REDLOCKRUN_TTL=30\n"
	root := os.Geteuid() == 0
	const fine, warned, refused = "fine", "warned of", "refused"
	ifRoot := func(yes, no string) string {
		if root {
			return yes
		}
		return no
	}
	for _, c := range []struct {
		text  string
		mode  os.FileMode
		owner int
		want  string
	}{
		{command, 0o640, os.Geteuid(), fine},
		{command, 0o666, os.Geteuid(), ifRoot(refused, warned)},
		{plain, 0o602, os.Geteuid(), ifRoot(refused, warned)},
		{command, 0o664, os.Geteuid(), ifRoot(refused, fine)},
		{command, 0o644, 12345, refused},
		{plain, 0o644, 12345, warned},
	} {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		if c.owner != os.Geteuid() {
			if !root {
				continue // only root can give a file away
			}
			if err := os.Chown(file, c.owner, -1); err != nil {
				t.Fatal(err)
			}
		}
		read, err := read(map[string]string{"REDLOCKRUN_CONFIG": file}, "key=x")
		got := fine
		switch {
		case err != nil:
			wantRefused(t, err, "can write it", "chmod go-w")
			got = refused
		case slices.ContainsFunc(read.Warnings,
			func(w string) bool { return strings.Contains(w, "can be written by") }):
			got = warned
		}
		if got != c.want {
			t.Errorf("%q, mode %o, owner %d: %s, want %s: %v", c.text, c.mode, c.owner, got, c.want, err)
		}
	}
}
