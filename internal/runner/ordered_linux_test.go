package runner_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The caller of the command needs to know which signals asked it to end.
func TestTheStatusSaysWhichSignalsWerePassedOn(t *testing.T) {
	for _, c := range []struct {
		send []os.Signal
		want []syscall.Signal
	}{
		{[]os.Signal{unix.SIGTERM}, []syscall.Signal{unix.SIGTERM}},
		{
			[]os.Signal{unix.SIGHUP, unix.SIGUSR1, unix.SIGTERM},
			[]syscall.Signal{unix.SIGHUP, unix.SIGUSR1, unix.SIGTERM},
		},
		{[]os.Signal{unix.SIGWINCH, unix.SIGCONT, unix.SIGTERM}, []syscall.Signal{unix.SIGTERM}},
	} {
		ready := filepath.Join(t.TempDir(), "ready")
		signals := make(chan os.Signal, len(c.send))
		cmd := shell(`trap : HUP USR1; trap 'exit 3' TERM; echo >"$0"; while :; do sleep 0.01; done`, ready)
		go func() {
			eventually(t, "the command is ready", func() bool { return len(lines(ready)) > 0 })
			for _, sig := range c.send {
				signals <- sig
			}
		}()
		status, err := cmd.Run(t.Context(), signals)
		if err != nil || status.Code != 3 {
			t.Fatalf("%+v, %v", status, err)
		}
		for sig := syscall.Signal(1); sig <= 64; sig++ {
			want := false
			for _, w := range c.want {
				want = want || w == sig
			}
			if status.Forwarded.Has(sig) != want {
				t.Errorf("%v: signal %d is said to be passed on: %v", c.send, sig, !want)
			}
		}
	}
}
