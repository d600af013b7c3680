package runner

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// A terminal is the controlling terminal. It is opened for each use, because uses are rare and
// there may be none.
type terminal struct{}

// foreground returns the terminal's foreground process group; 0 without a terminal.
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

// exists reports whether there is a controlling terminal, also if the foreground group is outside
// this PID namespace.
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

// WithoutTTOU calls f, which changes or writes to the terminal. In the background the whole
// process group would get SIGTTOU, unless the thread blocks it (tcsetpgrp(3); for write(2), with
// stty tostop). The command would inherit an ignored SIGTTOU.
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

// reclaim takes the terminal back from group, and reports whether group had it. It also takes a
// terminal whose foreground group no longer exists.
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

// isMine reports whether foreground is this process's group. A number of 0 means that the group is
// outside this PID namespace: then the answer is false.
func isMine(foreground int) bool { return foreground != 0 && foreground == unix.Getpgrp() }

func openTerminal() (int, error) {
	for {
		fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
