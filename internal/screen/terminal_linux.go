package screen

import (
	"runtime"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// The ioctls for the settings of a terminal. TCSETSW keeps unread input.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSW
)

// suspend stops this process as Ctrl-Z does. In an orphaned process group the kernel ignores the
// signal, because no shell could continue the process. The thread sends the signal to itself, so
// that it stops before tgkill returns.
func suspend() {
	defer relay.UseDefault(unix.SIGTSTP)()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
}
