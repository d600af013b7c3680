package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/runner"

	"golang.org/x/sys/unix"
)

// How /proc does not show a process: it is another namespace's, or it hides those that may not
// be traced.
const (
	foreign = "foreign"
	hidepid = "hidepid"
)

// hidden starts a wrapper that cannot see all of its processes in /proc. Only the log tells how it
// ended.
func hidden(t *testing.T, how string, s script, argv ...string) (wrapper int) {
	t.Helper()
	ability.Need(t, ability.Namespaces)
	text := `"$@"; while :; do sleep 1; done`
	if how == hidepid {
		options := "hidepid=2"
		if os.Getuid() == 0 {
			options += ",gid=" + strconv.Itoa(int(somebody)) // that group sees all processes, by default root's
		}
		text = "mount --make-rprivate / && mount -t proc -o " + options + " proc /proc && " +
			"setpriv --bounding-set=-all --inh-caps=-all " + text
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", text, "sh"}, wrapped(s, argv...)...)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = ability.PID1(unix.CLONE_NEWNS)
	cmd.SysProcAttr.Setpgid = true
	start(t, cmd)
	eventually(t, "the wrapper runs", func() bool {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", cmd.Process.Pid))
		for _, child := range strings.Fields(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.HasPrefix(string(line), self()+"\x00wrapper\x00") {
				wrapper, _ = strconv.Atoi(child)
			}
		}
		return wrapper != 0
	})
	return wrapper
}

// playUndumpable is a process that others do not see where /proc hides who may not be traced.
// It makes the file args[0], and ignores SIGTERM, or ends args[2] after one and says so in the
// file args[1].
func playUndumpable(args []string) int {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		panic(err)
	}
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, unix.SIGTERM)
	appendLine(args[0], "ready")
	for range terms {
		if len(args) > 1 {
			pause, err := time.ParseDuration(args[2])
			if err != nil {
				panic(err)
			}
			<-time.After(pause)
			appendLine(args[1], "done")
			return 0
		}
	}
	return 0
}

// livesWith reports whether a process that has not ended has word in its command line.
func livesWith(word string) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		line, _ := os.ReadFile(dir + "/cmdline")
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if strings.HasPrefix(string(line), self()+"\x00undumpable\x00"+word) && !exited(pid) {
			return true
		}
	}
	return false
}

func TestTheHiddenRestOfAStoppedGroupIsKilled(t *testing.T) {
	for how, nice := range map[string]string{foreign: "0", hidepid: "0", hidepid + " ": "19"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			ready := filepath.Join(dir, "ready")
			s := script{Log: filepath.Join(dir, "log"), Stop: filepath.Join(dir, "stop"), Grace: 300 * time.Millisecond}
			const text = `trap 'exit 3' TERM; nice -n "$0" "$@" & wait`
			hidden(t, strings.TrimSpace(how), s, "/bin/sh", "-c", text, nice, self(), "undumpable", ready)
			eventually(t, "the member is ready", func() bool { return len(lines(ready)) > 0 })
			appendLine(s.Stop, "")
			eventually(t, "the run ends", func() bool { return hasPrefix(s.Log, "ended:") })
			if livesWith(ready) {
				t.Error("the member lives on")
			}
			if want := "ended: code 3 signal 0 stopped stop command: asked to left 0"; !hasLine(s.Log, want) {
				t.Errorf("got %q, want %q", lines(s.Log), want)
			}
		})
	}
}

func TestTheHiddenRestOfAStoppedGroupHasItsGrace(t *testing.T) {
	for _, how := range []string{foreign, hidepid} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			ready, done := filepath.Join(dir, "ready"), filepath.Join(dir, "done")
			s := script{Log: filepath.Join(dir, "log"), Stop: filepath.Join(dir, "stop"), Grace: limit}
			const text = `trap 'exit 3' TERM; "$@" & wait`
			hidden(t, how, s, "/bin/sh", "-c", text, "sh", self(), "undumpable", ready, done, "100ms")
			eventually(t, "the member is ready", func() bool { return len(lines(ready)) > 0 })
			appendLine(s.Stop, "")
			eventually(t, "the run ends", func() bool { return hasPrefix(s.Log, "ended:") })
			if !hasLine(done, "done") {
				t.Error("the member was killed before its grace had ended")
			}
		})
	}
}

func TestWhatIsLeftIsCountedWhereItIsHidden(t *testing.T) {
	for _, how := range []string{foreign, hidepid} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			ready := filepath.Join(dir, "ready")
			s := script{Log: filepath.Join(dir, "log")}
			const text = `"$@" & while ! [ -s "$3" ]; do sleep 0.01; done; exit 5`
			hidden(t, how, s, "/bin/sh", "-c", text, "sh", self(), "undumpable", ready)
			eventually(t, "the run ends", func() bool { return hasPrefix(s.Log, "ended:") })
			if want := "ended: code 5 signal 0 stopped <nil> left 1"; !hasLine(s.Log, want) {
				t.Errorf("got %q, want %q", lines(s.Log), want)
			}
		})
	}
}

// Whether a hidden member stands still is unknown: the run keeps the lock.
func TestAHiddenProcessKeepsTheLockOfASuspendedRun(t *testing.T) {
	for _, how := range []string{foreign, hidepid} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			ready := filepath.Join(dir, "ready")
			s := script{Log: filepath.Join(dir, "log")}
			wrapper := hidden(t, how, s, "/bin/sh", "-c", `"$@" & wait`, "sh", self(), "undumpable", ready)
			eventually(t, "the member is ready", func() bool { return len(lines(ready)) > 0 })
			if err := unix.Kill(wrapper, unix.SIGTSTP); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the user is told", func() bool { return hasPrefix(s.Log, "warning: cannot suspend") })
			if hasLine(s.Log, "parked") || stateOf(wrapper) == 'T' {
				t.Errorf("it is suspended: %q", lines(s.Log))
			}
		})
	}
}

// Where /proc may hide processes and does not, a run is suspended as usual.
func TestAVisibleProcessIsSuspended(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	s := script{Log: filepath.Join(dir, "log")}
	wrapper := hidden(t, hidepid, s, "/bin/sh", "-c", `sleep 1000 & : >"$0"; wait`, ready)
	eventually(t, "the command is ready", func() bool { return exists(ready) })
	if err := unix.Kill(wrapper, unix.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the wrapper stands still", func() bool { return stateOf(wrapper) == 'T' })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestOptionsOfProcThatHideProcesses(t *testing.T) {
	for mount, want := range map[string]bool{
		"proc proc rw": false, "proc none rw,hidepid=0": false, "proc proc rw,hidepid=off,gid=5": false,
		"proc proc rw,hidepid=1": true, "proc proc rw,gid=5,hidepid=2": true, "proc proc rw,hidepid=invisible": true,
		"proc proc rw,hidepid=ptraceable": true, "proc proc rw,subset=pid": true, "tmpfs tmpfs rw": true,
		"proc": true, "": true,
	} {
		if got := runner.HidesProcesses(mount); got != want {
			t.Errorf("%q: %v, want %v", mount, got, want)
		}
	}
}
