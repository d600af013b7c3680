package runner

import (
	"redlockrun/internal/forkexec"

	"golang.org/x/sys/unix"
)

// interactive reports whether a person typed this command, so that it gets the terminal, stdin,
// from its start. This process then leads its group, which is in the foreground, and its output
// goes to no other program. Programs that never ask for the terminal show their progress only to a
// person.
func interactive(files []uintptr) bool {
	group, err := unix.IoctlGetInt(int(files[0]), unix.TIOCGPGRP) // fails for any other than the controlling terminal
	return err == nil && isMine(group) && group == unix.Getpid() &&
		!isPipeOrSocket(files[1]) && !isPipeOrSocket(files[2])
}

// interactive reports the same for a command. A pipe that is copied stands for the stream to which
// it is copied.
func (c *Command) interactive() (is bool) {
	streams := c.streams()
	if c.Copied > 0 {
		streams[1], streams[2] = nil, nil
	}
	_ = withDescriptors(streams, func(files []uintptr) { is = interactive(files) })
	return is
}

func isPipeOrSocket(fd uintptr) bool {
	var stat unix.Stat_t
	if unix.Fstat(int(fd), &stat) != nil {
		return false
	}
	kind := stat.Mode & unix.S_IFMT
	return kind == unix.S_IFIFO || kind == unix.S_IFSOCK
}

// fork executes a file in a group of its own. That group has the terminal before the first
// instruction if a person typed the command: the child takes it between fork and execve. The child
// does not check first, so this process checks right before. No shell takes the terminal from a
// job that neither ends nor stops, and the stop signals of the terminal no longer stop this job.
// Until execve they still reach this process, which handles them when it is free.
//
// If execve fails, a child that was forked is reaped after the call of failed: until then its
// number is its own.
func (c *Command) fork(path string, argv []string, attr *forkexec.Attr, failed func()) (pid int, err error) {
	attr.Terminal = c.interactive()
	pid, err = forkOnce(path, argv, attr, failed)
	if err != nil && attr.Terminal {
		terminal{}.reclaim(0) // from a child that has ended
	}
	if err == unix.ENOTTY { // it was hung up meanwhile: execve has no such error
		attr.Terminal = false
		return forkOnce(path, argv, attr, failed)
	}
	return pid, err
}

func forkOnce(path string, argv []string, attr *forkexec.Attr, failed func()) (pid int, err error) {
	pid, err = forkexec.Start(path, argv, attr)
	if err != nil && pid != 0 {
		failed()
		reap(pid)
	}
	return pid, err
}
