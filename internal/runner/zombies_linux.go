package runner

import (
	"os"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// A reaping holds the action of SIGCHLD before the kernel was told to reap.
type reaping struct {
	before relay.Action
	on     bool
}

// reapByKernel makes the kernel reap the processes that PID 1 adopts, before it has a child of its
// own. A process that ignores SIGCHLD leaves no zombies (wait(2)).
func reapByKernel() (r reaping) {
	if os.Getpid() == 1 {
		r.on = true
		ignore := relay.Ignore()
		relay.SetAction(unix.SIGCHLD, &ignore, &r.before)
	}
	return r
}

// stopReaping ends that, because this process must wait for the command's status.
func (r reaping) stopReaping() {
	if r.on {
		relay.SetAction(unix.SIGCHLD, &r.before, nil)
	}
}

// reapAgain makes the kernel reap once more, between two commands.
func reapAgain() { zombies = reapByKernel() }
