package runner

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A command may run already while its start is still being waited for: whatever comes
// then is for it, in its order. A stop without the CONT behind it would leave it stopped.
func TestWhatComesWhileTheCommandStartsIsKeptForIt(t *testing.T) {
	var p pending
	all := []os.Signal{unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT, unix.SIGUSR1, unix.SIGTERM}
	for _, sig := range all {
		p.take(sig)
	}
	if !slices.Equal(p.signals, all) {
		t.Errorf("kept %v of %v", p.signals, all)
	}
}

func TestNoCommandIsStartedAfterASignalThatWouldHaveEndedIt(t *testing.T) {
	for sig, ends := range map[unix.Signal]bool{
		unix.SIGWINCH: false, unix.SIGTSTP: false, unix.SIGCONT: false, unix.SIGUSR1: true, unix.SIGTERM: true,
	} {
		var p pending
		if p.take(sig); (p.unwanted != nil) != ends {
			t.Errorf("%v: %v", sig, p.unwanted)
		}
	}
}
