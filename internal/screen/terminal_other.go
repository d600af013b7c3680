//go:build !linux

package screen

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETAW
)

func suspend() { _ = unix.Kill(unix.Getpid(), unix.SIGSTOP) }
