package output

import (
	"os"

	"golang.org/x/sys/unix"
)

// onHangup calls gone when no process can read any more what is written to s, unless cancel comes
// before. It does not watch a named FIFO: another reader may open it before the next write.
//
// The open file is shared and must stay blocking, so an epoll(7) of its own watches it, and this
// process's poller watches that: no thread waits.
func onHangup(s *stream, gone func()) (cancel func()) {
	none := func() {}
	if s.isDevice() || s.isFIFO() && !isAnonymous(s.fd) {
		return none
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return none // then the next write fails
	}
	event := unix.EpollEvent{} // EPOLLERR and EPOLLHUP come unasked
	if unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, s.fd, &event) != nil || unix.SetNonblock(epoll, true) != nil {
		_ = unix.Close(epoll)
		return none
	}
	watch := os.NewFile(uintptr(epoll), "epoll")
	raw, err := watch.SyscallConn()
	if err != nil {
		_ = watch.Close()
		return none
	}
	go func() {
		if raw.Read(hasEvent) == nil {
			gone()
		}
	}()
	return func() { _ = watch.Close() }
}

func hasEvent(epoll uintptr) bool {
	var events [1]unix.EpollEvent
	n, _ := unix.EpollWait(int(epoll), events[:], 0)
	return n > 0
}

// isAnonymous reports whether a FIFO was made by pipe(2), and has no name.
func isAnonymous(fd int) bool {
	var system unix.Statfs_t
	return unix.Fstatfs(fd, &system) == nil && system.Type == unix.PIPEFS_MAGIC
}
