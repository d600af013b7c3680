package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"

	"golang.org/x/sys/unix"
)

// somebody is a user without processes: its limits count only the processes of this run of the
// tests.
var somebody = 100_000 + uint32(os.Getpid())

// asSomebody makes cmd run as that user, and its program one that it may execute.
func asSomebody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ability.Need(t, ability.Users)
	dir := t.TempDir()
	for d := dir; d != "/tmp" && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Path = filepath.Join(dir, "wrapper")
	copySelf(t, cmd.Path, "755")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
}

// copySelf copies this program, through a child, so that no descriptor to it is open for writing.
func copySelf(t *testing.T, path, mode string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `cp "$0" "$1" && chmod "$2" "$1"`, self(), path, mode)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
}

// playRoot is a process that its caller may not signal, as sudo starts it. It makes the file
// args[0] and ends with status 6 when args[1] exists.
func playRoot(args []string) int {
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		panic(err)
	}
	if err := syscall.Setresgid(0, 0, 0); err != nil {
		panic(err)
	}
	appendLine(args[0], "ready")
	for {
		if _, err := os.Stat(args[1]); err == nil {
			return 6
		}
		ts := unix.NsecToTimespec(5_000_000)
		_ = unix.Nanosleep(&ts, nil)
	}
}

func TestACommandThatCannotBeKilledIsAwaited(t *testing.T) {
	cmd := &exec.Cmd{}
	asSomebody(t, cmd)
	dir := filepath.Dir(cmd.Path)
	root := filepath.Join(dir, "root")
	copySelf(t, root, "6755")
	s := script{Grace: 50 * time.Millisecond, Log: filepath.Join(dir, "log"), Stop: filepath.Join(dir, "stop")}
	ready, end := filepath.Join(dir, "ready"), filepath.Join(dir, "end")
	cmd.Args = wrapped(s, root, "root", ready, end)
	start(t, cmd)
	t.Cleanup(func() { appendLine(end, "") })
	eventually(t, "the command is ready", func() bool { return len(lines(ready)) > 0 })

	appendLine(s.Stop, "")
	eventually(t, "the user is told", func() bool { return hasPrefix(s.Log, "warning: send signal 15") })
	if line := lines(s.Log)[0]; !strings.HasSuffix(line, "operation not permitted") {
		t.Errorf("got %q", line)
	}
	if exited(cmd.Process.Pid) {
		t.Fatal("the wrapper did not wait")
	}
	appendLine(end, "")
	if c := code(t, cmd); c != 6 {
		t.Errorf("got %d, want 6", c)
	}
	if n := len(lines(s.Log)); n != 2 {
		t.Errorf("told more than once: %q", lines(s.Log))
	}
}

// Too few processes are allowed: it is 71, or 2 where the Go runtime itself gets
// no thread (134 in a test binary with the race detector), never a hang, and nothing stays.
func TestWithoutProcessesTheStatusIs71(t *testing.T) {
	for _, n := range strings.Fields("1 3 5 6 7 8 9 10 11 12 13 14 16 18 20 100") {
		cmd := &exec.Cmd{Stderr: nil}
		asSomebody(t, cmd)
		const limited = `ulimit -u "$0" 2>/dev/null || ulimit -p "$0" || exit 98; exec "$@"`
		cmd.Args = append([]string{"/bin/sh", "-c", limited, n, cmd.Path},
			wrapped(script{}, "/bin/sh", "-c", "exit 9")[1:]...)
		cmd.Path = cmd.Args[0]
		start(t, cmd)
		c := code(t, cmd)
		if c != 71 && c != 2 && c != 134 && c != 9 || n == "100" && c != 9 {
			t.Errorf("%s processes allowed: got status %d", n, c)
		}
		t.Logf("%s processes allowed: status %d", n, c)
		eventually(t, "nothing of it is left", func() bool { return !anyProcessOf(somebody) })
	}
}

func anyProcessOf(uid uint32) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.Sys().(*syscall.Stat_t).Uid == uid {
			return true
		}
	}
	return false
}
