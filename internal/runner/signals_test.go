package runner_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"redlockrun/internal/runner"
)

// harmless are the signals that end no wait: those with another meaning, and those that are never
// delivered.
var harmless = map[syscall.Signal]bool{
	syscall.SIGWINCH: true, syscall.SIGCONT: true,
	syscall.SIGTSTP: true, syscall.SIGTTIN: true, syscall.SIGTTOU: true,
	syscall.SIGPIPE: true, syscall.SIGXFSZ: true,
	syscall.SIGKILL: true, syscall.SIGSTOP: true, syscall.SIGCHLD: true, syscall.SIGURG: true,
	syscall.SIGPROF: true, 33: true,
}

func TestEverySignalEndsAWaitButTheHarmless(t *testing.T) {
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		err := runner.Interrupted(sig)
		var signalled *runner.SignalError
		switch {
		case harmless[sig] && err != nil:
			t.Errorf("signal %d: %v", sig, err)
		case !harmless[sig] && (!errors.As(err, &signalled) || signalled.Signal != sig):
			t.Errorf("signal %d: %v", sig, err)
		}
	}
}

func TestWhatIsNoSignalEndsNoWait(t *testing.T) {
	for _, sig := range []os.Signal{nil, syscall.Signal(0), syscall.Signal(-1), syscall.Signal(65)} {
		if err := runner.Interrupted(sig); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
	}
}
