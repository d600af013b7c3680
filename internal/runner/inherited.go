package runner

import (
	"os"

	"golang.org/x/sys/unix"
)

// Inherited returns a second descriptor of the file that this process got as n, with the same
// offset. The error is EBADF for a descriptor that the command would not inherit.
func Inherited(n int, name string) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
	if err != nil {
		return nil, err
	}
	if flags&unix.FD_CLOEXEC != 0 {
		return nil, unix.EBADF
	}
	second, err := unix.FcntlInt(uintptr(n), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(second), name), nil
}
