package guard_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// This test binary is also the programs that the tests are about.
func TestMain(m *testing.M) {
	switch os.Getenv("GUARD_TEST_IS") {
	case "starter":
		starterMain()
	case "late":
		lateMain()
	default:
		os.Exit(m.Run())
	}
}

const lateMarker = "GUARD_TEST_MARKER=late"

// starterMain starts a guard, says that it is about to start a command, begins to, and ends. It
// prints the number of what it has begun.
func starterMain() {
	pipes, err := guard.NewPipes()
	must(err)
	_, err = pipes.Execute(nil)
	must(err)
	_, err = os.NewFile(uintptr(pipes.Ready[0]), "ready").Read(make([]byte, 1))
	must(err)
	orders := os.NewFile(uintptr(pipes.Orders[1]), "orders")
	session, err := unix.Getsid(0)
	must(err)
	_, err = orders.Write(guard.Message{Kind: guard.Starting, Value: int64(session), Text: lateMarker}.Encode())
	must(err)
	late := exec.Command("/proc/self/exe")
	late.Env = []string{"GUARD_TEST_IS=late", "PATH=" + os.Getenv("PATH")}
	late.Stdin, late.ExtraFiles = os.Stdin, []*os.File{orders}
	late.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(late.Start())
	fmt.Println(late.Process.Pid)
}

// lateMain is a command whose execve comes late: until then, like a process that has only been
// forked, it has its starter's end of the orders, and not yet the marker.
func lateMain() {
	unix.CloseOnExec(guard.Orders)
	_, err := io.ReadFull(os.Stdin, make([]byte, 1))
	must(err)
	sleep, err := exec.LookPath("sleep")
	must(err)
	must(unix.Exec(sleep, []string{"sleep", "1000"}, []string{lateMarker}))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// On a busy machine what has been forked can wait for a processor until long after its starter
// was killed.
func TestAGuardAwaitsWhatItsStarterHasForked(t *testing.T) {
	begin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	starter := exec.Command("/proc/self/exe")
	starter.Env = []string{"GUARD_TEST_IS=starter", "PATH=" + os.Getenv("PATH")}
	starter.Stdin = begin
	out, err := starter.Output()
	begin.Close()
	if err != nil {
		t.Fatal(err)
	}
	late, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-late, syscall.SIGKILL) }()
	<-time.After(300 * time.Millisecond) // many looks of a guard
	if _, err := in.Write([]byte{'!'}); err != nil {
		t.Fatal(err)
	}
	in.Close()
	for end := boottime.Now().Add(limit / 6); guard.Living(late) > 0; <-time.After(time.Millisecond) {
		if boottime.Until(end) < 0 {
			t.Fatal("the command lives")
		}
	}
}
