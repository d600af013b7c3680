package guard_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/guard"
)

// headless is the variable by which the test binary becomes a process whose first thread ends
// and whose others run on. Packages are initialized by the first thread.
const headless = "GUARD_TEST_HEADLESS"

func init() {
	if os.Getenv(headless) == "" {
		return
	}
	begun := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(begun)
		for {
			pause := syscall.Timespec{Sec: 1}
			_ = syscall.Nanosleep(&pause, nil)
		}
	}()
	<-begun
	syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

// group starts a command that leads a group of its own.
func group(t *testing.T, cmd *exec.Cmd) (pid int) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// comes waits until a group has the wanted census.
func comes(t *testing.T, pid int, want guard.Census) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(limit); ; <-tick.C {
		got := guard.Look(pid)
		if got == want {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the group has %+v, want %+v", got, want)
		}
	}
}

func TestAGroupIsSeenToRunToStandStillAndToBeGone(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	pid := group(t, cmd)
	comes(t, pid, guard.Census{Running: 1})
	if still := guard.Look(pid).Still(); still {
		t.Error("it stands still")
	}
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	comes(t, pid, guard.Census{Stopped: 1})
	if c := guard.Look(pid); !c.Still() || c.Living() != 1 {
		t.Errorf("%+v", c)
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	comes(t, pid, guard.Census{Dead: 1})
	if c := guard.Look(pid); !c.Still() || c.Living() != 0 {
		t.Errorf("%+v", c)
	}
	_ = cmd.Wait()
	comes(t, pid, guard.Census{})
}

// A first thread that has ended is a zombie, and the process lives.
func TestAProcessWhoseFirstThreadHasEndedRuns(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), headless+"=1")
	pid := group(t, cmd)
	for late := time.Now().Add(limit); stateOf(t, pid) != 'Z' && time.Now().Before(late); {
		runtime.Gosched()
	}
	if c := guard.Look(pid); c != (guard.Census{Running: 1}) {
		t.Errorf("%+v", c)
	}
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	comes(t, pid, guard.Census{Stopped: 1})
}

// stateOf is the letter that proc(5) shows of a process.
func stateOf(t *testing.T, pid int) byte {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for at := len(text) - 1; at > 0; at-- {
		if text[at] == ')' {
			return text[at+2]
		}
	}
	return 0
}

// Every number that a process can have is asked for, and threads are no processes.
func TestWhatProcShowsIsNotHidden(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), headless+"=1")
	if n := guard.Hidden(group(t, cmd)); n != 0 {
		t.Errorf("%d are hidden", n)
	}
}

// Who is new is seen at once if a member that was known has changed, and else in a second.
func TestALookoutSeesWhoIsNew(t *testing.T) {
	leader := exec.Command("sleep", "1000")
	pid := group(t, leader)
	member := joins(t, pid)
	for _, stopped := range []int{pid, member.Process.Pid} {
		if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	comes(t, pid, guard.Census{Stopped: 2})
	var one, other guard.Lookout
	if !one.Still(pid) || !other.Still(pid) || !one.Still(pid) {
		t.Error("the group does not stand still")
	}
	joins(t, pid)
	if err := member.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = member.Wait()
	if other.Still(pid) {
		t.Error("it is not seen at once")
	}
	until(t, "it is seen", func() bool { return !one.Still(pid) })
}

// A member that runs is not among those that a lookout remembers: it is seen at every look.
func TestALookoutSeesAContinuedMemberAtEveryLook(t *testing.T) {
	leader := exec.Command("sleep", "1000")
	pid := group(t, leader)
	member := joins(t, pid)
	for _, stopped := range []int{pid, member.Process.Pid} {
		if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	comes(t, pid, guard.Census{Stopped: 2})
	var lookout guard.Lookout
	lookout.Still(pid)
	if err := syscall.Kill(member.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for look := range 3 {
		if lookout.Still(pid) {
			t.Errorf("look %d does not see it", look)
		}
	}
}

// joins starts a process in a group.
func joins(t *testing.T, group int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(limit); !happened(); <-tick.C {
		if time.Now().After(late) {
			t.Fatal("this did not happen: " + what)
		}
	}
}
