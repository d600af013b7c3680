package console

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stderr returns a function that writes a line to the descriptor itself: os.Stderr would end the
// process by SIGPIPE when the reader is gone. It drops what it cannot write. around wraps each
// write: a terminal that belongs to another process group would stop this one (stty tostop).
func Stderr(around func(write func())) func(line []byte) {
	return func(line []byte) {
		for len(line) > 0 {
			var n int
			var err error
			around(func() { n, err = syscall.Write(syscall.Stderr, line) })
			switch err {
			case nil:
				line = line[n:]
			case syscall.EINTR:
			case syscall.EAGAIN: // another process made the shared description non-blocking
				unix.Poll([]unix.PollFd{{Fd: int32(syscall.Stderr), Events: unix.POLLOUT}},
					int(time.Second/time.Millisecond))
			default:
				return
			}
		}
	}
}
