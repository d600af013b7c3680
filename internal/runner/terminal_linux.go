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

// exists reports whether there is a controlling terminal, also where the foreground
// group is outside of this PID namespace.
func (terminal) exists() bool {
	fd, err := openTerminal()
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
}

// give makes group the foreground group.
func (terminal) give(group int) error {
	fd, err := openTerminal()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	WithoutTTOU(func() { err = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group) })
	return err
}

// WithoutTTOU calls f, which does something to the terminal. In the background the whole
// process group would get SIGTTOU for it, unless the thread blocks that (tcsetpgrp(3);
// for write(2), with stty tostop); ignoring it would be inherited by the command.
func WithoutTTOU(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block, before unix.Sigset_t
	block.Val[0] = 1 << (uint(unix.SIGTTOU) - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &block, &before) == nil {
		defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	}
	f()
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
