package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

func TestMissingProcOrDevNullIsReported(t *testing.T) {
	t.Parallel()
	ability.Need(t, ability.Namespaces)
	for what, how := range map[string]string{"/proc": "umount -l /proc", "/dev/null": "mount -t tmpfs none /dev"} {
		t.Run(strings.ReplaceAll(what, "/", ""), func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, redistest.Options{})
			config := filepath.Join(t.TempDir(), "config")
			touch(t, config)
			enter := []string{"--mount"}
			if os.Getuid() != 0 {
				enter = append(enter, "--user", "--map-root-user")
			}
			enter = append(enter, "sh", "-c", how+` && exec env REDLOCKRUN_CONFIG="$0" "$@"`, config, binary(t),
				"-k", "job", "true")
			run := launchCommand(t, s.URL(), exec.Command("unshare", enter...))
			run.ends(71)
			if !strings.Contains(run.stderr(), "hint: the guard needs "+what+":") {
				t.Errorf("it said %q", run.stderr())
			}
			wantNoLock(t, s)
		})
	}
}

func TestWithoutDescriptorsReadingTheConfigurationExitsWith71(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	path := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(path, []byte(s.URL()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--redis=file:" + path, "--redis-password-file=" + path,
		"--local=" + filepath.Dir(path)} {
		for limit := 4; limit <= 24; limit++ {
			limited := exec.Command("sh", "-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(limit), binary(t),
				"-k", "job", flag, "true")
			run := launchCommand(t, s.URL(), limited)
			<-run.done
			if status := statusOf(run.cmd.ProcessState); status == 64 {
				t.Errorf("%s with %d descriptors: status %d\n%s", flag, limit, status, run.stderr())
			}
		}
	}
}
