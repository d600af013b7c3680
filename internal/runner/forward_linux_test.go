package runner_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"redlockrun/internal/relay"
	"redlockrun/internal/runner"

	"golang.org/x/sys/unix"
)

// playSignals writes to the file in args[0] each signal that it gets, and
// "ready" before. With a second file it starts another one of itself first.
func playSignals(args []string) int {
	signals := runner.Subscribe()
	relay.Deliver(unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT, unix.SIGWINCH)
	if len(args) > 1 {
		grandchild := exec.Command(self(), "signals", args[1])
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
	}
	appendLine(args[0], "ready")
	for sig := range signals {
		appendLine(args[0], strconv.Itoa(int(sig.(syscall.Signal))))
	}
	return 0
}

// logs of a command and its child that write down the signals they get.
type logs struct{ command, grandchild string }

// listen starts a wrapper around a command and a grandchild of that kind.
func listen(t *testing.T) (*exec.Cmd, logs) {
	dir := t.TempDir()
	l := logs{filepath.Join(dir, "command"), filepath.Join(dir, "grandchild")}
	cmd := launch(t, wrapped(script{}, self(), "signals", l.command, l.grandchild)...)
	eventually(t, "command and grandchild are ready", func() bool {
		return hasLine(l.command, "ready") && hasLine(l.grandchild, "ready")
	})
	return cmd, l
}

// got returns how often command and grandchild got sig.
func (l logs) got(sig syscall.Signal) [2]int {
	line := strconv.Itoa(int(sig))
	return [2]int{count(l.command, line), count(l.grandchild, line)}
}

// awaitArrival returns when what was sent to the wrapper before has arrived, most likely: of
// two signals that wait the lower one comes first, so it takes two rounds. But each may be
// handled by another thread, and one of them be late: for what has to arrive, wait.
func (l logs) awaitArrival(t *testing.T, wrapper *exec.Cmd) {
	t.Helper()
	const winch = "28"
	for range 2 {
		before := [2]int{count(l.command, winch), count(l.grandchild, winch)}
		send(t, wrapper, unix.SIGWINCH)
		eventually(t, "WINCH arrives", func() bool {
			return count(l.command, winch) > before[0] && count(l.grandchild, winch) > before[1]
		})
	}
}

func send(t *testing.T, cmd *exec.Cmd, sig syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func TestEverySignalIsForwardedToTheRightProcesses(t *testing.T) {
	wrapper, l := listen(t)
	group := map[syscall.Signal]bool{
		unix.SIGTERM: true, unix.SIGINT: true, unix.SIGHUP: true, unix.SIGQUIT: true, unix.SIGCONT: true,
		unix.SIGTSTP: true, unix.SIGTTIN: true, unix.SIGTTOU: true,
	}
	nobody := map[syscall.Signal]bool{
		unix.SIGCHLD: true, unix.SIGURG: true, unix.SIGPIPE: true, unix.SIGXFSZ: true, // of redlockrun itself
		unix.SIGPROF: true, 33: true, // the Go runtime's
	}
	want := map[syscall.Signal][2]int{}
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if sig == unix.SIGKILL || sig == unix.SIGSTOP || sig == unix.SIGWINCH {
			continue
		}
		want[sig] = [2]int{1, 0}
		if group[sig] {
			want[sig] = [2]int{1, 1}
		} else if nobody[sig] {
			want[sig] = [2]int{0, 0}
		}
		send(t, wrapper, sig)
		eventually(t, fmt.Sprintf("signal %d arrives", sig), func() bool {
			got := l.got(sig)
			return got[0] >= want[sig][0] && got[1] >= want[sig][1]
		})
	}
	l.awaitArrival(t, wrapper)
	for sig, want := range want {
		if got := l.got(sig); got != want {
			t.Errorf("signal %d: command and grandchild got %v, want %v", sig, got, want)
		}
	}
}

// The kernel queues real-time signals, and none of them may get lost on the way.
func TestABurstOfRealTimeSignalsArrivesWhole(t *testing.T) {
	for _, sig := range []syscall.Signal{32, 34, 40} {
		wrapper, l := listen(t)
		const burst = 200
		for range burst {
			send(t, wrapper, sig)
		}
		line := strconv.Itoa(int(sig))
		eventually(t, "all arrive", func() bool { return count(l.command, line) == burst })
	}
}

func TestEachSignalIsForwardedAgain(t *testing.T) {
	wrapper, l := listen(t)
	for _, sig := range []syscall.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGUSR1} {
		line := strconv.Itoa(int(sig))
		for n := 1; n <= 5; n++ {
			send(t, wrapper, sig)
			eventually(t, fmt.Sprintf("signal %d arrives %d times", sig, n),
				func() bool { return count(l.command, line) == n })
		}
	}
}

func TestSignalsIgnoredOnEntryStayIgnored(t *testing.T) {
	for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, 34} {
		dir := t.TempDir()
		status := filepath.Join(dir, "status")
		const show = `grep SigIgn /proc/self/status >"$0.new"; mv "$0.new" "$0"
			while ! [ -e "$0.go" ]; do sleep 0.01; done; exit 6`
		ignoring := []string{"/bin/sh", "-c", fmt.Sprintf(`trap "" %d; exec "$@"`, sig), "sh"}
		cmd := launch(t, append(ignoring, wrapped(script{}, "/bin/sh", "-c", show, status)...)...)
		eventually(t, "the command runs", func() bool { return len(lines(status)) == 1 })
		mask, err := strconv.ParseUint(lines(status)[0][len("SigIgn:\t"):], 16, 64)
		if err != nil || mask>>(sig-1)&1 == 0 {
			t.Errorf("signal %d is not ignored in the command: %s, %v", sig, lines(status)[0], err)
		}
		send(t, cmd, sig)
		appendLine(status+".go", "")
		if c := code(t, cmd); c != 6 {
			t.Errorf("signal %d ignored on entry: got status %d, want 6", sig, c)
		}
	}
}

func TestAClosedStderrEndsNothing(t *testing.T) {
	wrapper, l := listen(t)
	for range 3 {
		send(t, wrapper, unix.SIGPIPE)
	}
	l.awaitArrival(t, wrapper)
	if hasLine(l.command, "13") {
		t.Error("SIGPIPE was forwarded")
	}
}
