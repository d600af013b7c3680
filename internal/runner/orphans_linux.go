package runner

import (
	"os"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// An adoption is how SIGCHLD was treated before disown.
type adoption struct {
	before  relay.Action
	changed bool
}

// disown lets the kernel reap what PID 1 adopts before it has a child of its own:
// who ignores SIGCHLD leaves no zombies (wait(2)).
func disown() (a adoption) {
	if os.Getpid() == 1 {
		a.changed = true
		ignore := relay.Ignore()
		relay.Swap(unix.SIGCHLD, &ignore, &a.before)
	}
	return a
}

// own ends that: the command's status is to be waited for.
func (a adoption) own() {
	if a.changed {
		relay.Swap(unix.SIGCHLD, &a.before, nil)
	}
}
