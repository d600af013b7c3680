//go:build !linux

package output

import (
	"context"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	descriptors = "/dev/fd/" // where each descriptor of this process can be opened anew
	pipeBuf     = 512        // PIPE_BUF
)

func makePipe(bool) (read, write int, err error) {
	var ends [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(ends[:]); err != nil {
		return 0, 0, err
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return ends[0], ends[1], nil
}

func capacity(int) int { return bufferSize }

func waiting(int) int { return 0 }

// sameOpenFile fails: there is no kcmp(2).
func sameOpenFile(int, int) (bool, error) { return false, unix.ENOSYS }

func holders(context.Context, []*pipe) []int { return nil }

// onHangup watches nothing: the next write fails instead.
func onHangup(*stream, func()) (cancel func()) { return func() {} }
