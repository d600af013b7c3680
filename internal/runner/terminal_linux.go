package runner

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// A terminal is the controlling terminal, opened anew for each use: it is used
// seldom, and there may be none.
type terminal struct{}

// foreground is the terminal's foreground process group; 0 without a terminal.
func (terminal) foreground() int {
	fd, err := openTerminal()
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// give makes group the foreground group. A process in the background that does
// so gets SIGTTOU, and its whole group with it, unless its thread blocks it
// (tcsetpgrp(3)); ignoring it would be inherited by the command.
func (terminal) give(group int) error {
	fd, err := openTerminal()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block, before unix.Sigset_t
	block.Val[0] = 1 << (uint(unix.SIGTTOU) - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &before); err != nil {
		return err
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	return unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group)
}

// reclaim takes the terminal back from group, and reports whether it had it. A
// foreground group that is gone has left the terminal to nobody: then it is taken too.
func (t terminal) reclaim(group int) bool {
	foreground := t.foreground()
	if foreground == 0 || isMine(foreground) {
		return false
	}
	if foreground != group && unix.Kill(-foreground, 0) != unix.ESRCH {
		return false
	}
	return t.give(unix.Getpgrp()) == nil
}

// isMine reports whether foreground is this process's group. Either number is 0 if
// the group is outside of this PID namespace, and then they say nothing.
func isMine(foreground int) bool { return foreground != 0 && foreground == unix.Getpgrp() }

func openTerminal() (int, error) {
	for {
		fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
