package output

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	descriptors = "/proc/self/fd/" // where each descriptor of this process can be opened anew
	pipeBuf     = 4096             // PIPE_BUF
)

// makePipe makes a pipe. With messages, each write of at most PIPE_BUF bytes arrives as one read.
func makePipe(messages bool) (read, write int, err error) {
	flags := unix.O_CLOEXEC
	if messages {
		flags |= unix.O_DIRECT
	}
	var ends [2]int
	err = unix.Pipe2(ends[:], flags)
	return ends[0], ends[1], err
}

// capacity returns how many bytes a pipe can hold.
func capacity(fd int) int {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		return bufferSize
	}
	return n
}

// waiting returns how many bytes are in a pipe.
func waiting(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// sameOpenFile reports whether two descriptors share one open file description (kcmp(2)).
func sameOpenFile(a, b int) (bool, error) {
	const kcmpFile = 0 // KCMP_FILE
	pid := uintptr(os.Getpid())
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, pid, pid, kcmpFile, uintptr(a), uintptr(b), 0)
	if errno != 0 {
		return false, errno
	}
	return order == 0, nil
}
