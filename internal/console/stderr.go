package console

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stderr returns a function that writes a line to the descriptor itself: os.Stderr would end
// the process by SIGPIPE when nobody reads any more. What cannot be written is lost. Each
// write is made inside of around: a terminal that another process group has would stop this
// one for it (stty tostop).
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
			case syscall.EAGAIN: // somebody set the shared description non-blocking
				unix.Poll([]unix.PollFd{{Fd: int32(syscall.Stderr), Events: unix.POLLOUT}}, int(time.Second/time.Millisecond))
			default:
				return
			}
		}
	}
}
