package guard_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/guard"
)

// limit is how long a test waits for what must happen.
const limit = time.Minute

// A watched is a process in a group of its own, and a guard that this test binary has
// become: it does nothing for that but to import the package.
type watched struct {
	group  *exec.Cmd
	orders *os.File
	ready  *os.File
}

// watch starts a process, and a guard that has been told nothing yet.
func watch(t *testing.T) watched {
	t.Helper()
	pipes, err := guard.NewPipes()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := pipes.Execute(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := watched{
		group:  exec.Command("sleep", "1000"),
		orders: os.NewFile(uintptr(pipes.Orders[1]), "orders"),
		ready:  os.NewFile(uintptr(pipes.Ready[0]), "ready"),
	}
	t.Cleanup(func() {
		w.orders.Close()
		w.ready.Close()
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
	})
	if _, err := w.ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	w.group.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := w.group.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.group.Process.Kill(); _ = w.group.Wait() })
	return w
}

func (w watched) tell(t *testing.T, kind guard.Kind, value int64) {
	t.Helper()
	if _, err := w.orders.Write(guard.Message{Kind: kind, Value: value}.Encode()); err != nil {
		t.Fatal(err)
	}
}

// isKilled waits for the process's end, which must be by SIGKILL.
func (w watched) isKilled(t *testing.T) {
	t.Helper()
	late := time.AfterFunc(limit, func() { _ = w.group.Process.Signal(syscall.SIGTERM) })
	defer late.Stop()
	_ = w.group.Wait()
	if status := w.group.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", w.group.ProcessState)
	}
}

func TestAGuardKillsItsGroupAtTheDeadline(t *testing.T) {
	w := watch(t)
	w.tell(t, guard.Watch, int64(w.group.Process.Pid))
	w.tell(t, guard.Deadline, 1)
	w.isKilled(t)
}

// Its starter may have stood still for long, and fork a command that comes too late.
func TestAGuardWhoseDeadlineHasPassedKillsAtOnceWhatItIsToldOf(t *testing.T) {
	w := watch(t)
	w.tell(t, guard.Watch, int64(w.group.Process.Pid))
	w.tell(t, guard.Deadline, 1)
	w.isKilled(t)
	for _, kind := range []guard.Kind{guard.Forked, guard.Watch} {
		w.group = exec.Command("sleep", "1000")
		w.group.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := w.group.Start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		w.tell(t, kind, int64(w.group.Process.Pid))
		w.isKilled(t)
		if took := time.Since(began); took > 700*time.Millisecond {
			t.Errorf("it was killed %v after message %q", took, kind)
		}
	}
}

func TestAGuardKillsItsGroupWhenItsStarterIsGone(t *testing.T) {
	w := watch(t)
	w.tell(t, guard.Watch, int64(w.group.Process.Pid))
	w.orders.Close()
	w.isKilled(t)
}

func TestAGuardThatHasBeenToldNothingEndsWithItsStarter(t *testing.T) {
	w := watch(t)
	w.orders.Close()
	if n, err := w.ready.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes, %v, want the end", n, err)
	}
	if guard.Living(w.group.Process.Pid) != 1 {
		t.Error("it killed what it had not been told of")
	}
}

func TestLivingCountsNoZombies(t *testing.T) {
	w := watch(t)
	pid := w.group.Process.Pid
	if n := guard.Living(pid); n != 1 {
		t.Errorf("%d live, want 1", n)
	}
	if !guard.Executed(pid) {
		t.Error("it has executed no file")
	}
	if err := w.group.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := boottime.Now().Add(limit); guard.Living(pid) > 0 && boottime.Until(end) > 0; {
		<-time.After(time.Millisecond)
	}
	if n := guard.Living(pid); n != 0 {
		t.Errorf("%d live, want none", n)
	}
}
