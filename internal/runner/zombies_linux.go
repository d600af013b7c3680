package runner

import (
	"os"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// A reaping is how SIGCHLD was treated before the kernel was told to reap.
type reaping struct {
	before relay.Action
	on     bool
}

// reapByKernel lets the kernel reap what PID 1 adopts before it has a child of its own:
// who ignores SIGCHLD leaves no zombies (wait(2)).
func reapByKernel() (r reaping) {
	if os.Getpid() == 1 {
		r.on = true
		ignore := relay.Ignore()
		relay.SetAction(unix.SIGCHLD, &ignore, &r.before)
	}
	return r
}

// stopReaping ends that: the command's status is to be waited for.
func (r reaping) stopReaping() {
	if r.on {
		relay.SetAction(unix.SIGCHLD, &r.before, nil)
	}
}

// reapAgain lets the kernel reap once more, between two commands.
func reapAgain() { zombies = reapByKernel() }
