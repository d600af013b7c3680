package runner

import (
	"redlockrun/internal/forkexec"

	"golang.org/x/sys/unix"
)

// interactive reports whether a person has typed this command, so that it is to have the
// terminal, stdin, from its start: this process leads its group, that is in the
// foreground, and what it writes goes to no other program. Programs that do not ask
// for the terminal show their progress only to a person.
func interactive(files []uintptr) bool {
	group, err := unix.IoctlGetInt(int(files[0]), unix.TIOCGPGRP) // fails but for the controlling terminal
	return err == nil && isMine(group) && group == unix.Getpid() &&
		!isPipeOrSocket(files[1]) && !isPipeOrSocket(files[2])
}

// interactive reports the same of a command. A pipe that is copied stands for the stream to which
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

// fork executes a file in a group of its own, which has the terminal before the
// first instruction if a person typed the command: the child takes it between
// fork and execve. It takes it without a look, so this process looks, right before:
// no shell takes the terminal from a job that neither ends nor stops, and the stop
// signals of the terminal do not stop it any more. In the child they are still relayed
// to this process, which goes on with them when it is free: there they stop nothing
// that this process would wait for.
//
// If execve fails, a child that has been forked is reaped once failed has been called: its
// number is still its own then.
func (c *Command) fork(path string, argv []string, attr *forkexec.Attr, failed func()) (pid int, err error) {
	attr.Terminal = c.interactive()
	pid, err = forkOnce(path, argv, attr, failed)
	if err != nil && attr.Terminal {
		terminal{}.reclaim(0) // from a child that is gone
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
