package screen

import (
	"runtime"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// How terminals are asked and told. What has been typed, and not been read, is kept.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSW
)

// suspend stops this process as Ctrl-Z does, where the kernel allows that: in an orphaned
// process group nobody could continue it, and nothing happens. The thread sends the signal
// to itself, so that it is stopped before tgkill returns.
func suspend() {
	defer relay.UseDefault(unix.SIGTSTP)()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
}
