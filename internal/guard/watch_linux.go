package guard

import (
	"syscall"
	"unsafe"
)

// A sentry is what a guard knows.
type sentry struct {
	starter  int    // its process
	group    int    // the command's process group; 0 before it is known
	session  int    // where a command has perhaps been started, if there is a marker and group is 0
	marker   []byte // the entry of its environment that no other process has
	deadline int64  // CLOCK_BOOTTIME, ns; 0: none
	parked   bool   // the group is stopped, and its starter too
	timer    int
}

// watch is the whole life of a guard; it returns its exit status. A guard that is
// not needed any more is killed.
func watch(kept int) int {
	seclude(FirstKept + kept)
	s := &sentry{starter: syscall.Getppid(), timer: newTimer()}
	if s.timer < 0 {
		return 1
	}
	// If this fails the starter is dead already: the end of the orders will say so,
	// and what stands before it whom to kill.
	_, _ = syscall.Write(Ready, []byte{'!'})
	buf := make([]byte, 16*Size)
	for {
		orders := await(Orders, s.timer)
		if !orders {
			s.enforce()
			continue
		}
		n, err := syscall.Read(Orders, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < Size {
			s.slay()
			return 0
		}
		for at := 0; at+Size <= n; at += Size {
			s.obey(decode(buf[at : at+Size]))
		}
		if n < len(buf) {
			s.enforce()
		} else {
			setTimer(s.timer, 1) // at once, unless there is more, perhaps a later deadline
		}
	}
}

func (s *sentry) obey(m Message) {
	switch m.Kind {
	case Starting:
		s.session, s.marker = int(m.Value), []byte(m.Text)
	case Watch:
		s.group = int(m.Value)
	case Deadline:
		s.deadline = m.Value
	case Park:
		s.parked = true
	case Unpark:
		s.parked = false
	}
}

// enforce kills the group if its deadline has passed, else sets the timer to
// it. From then on it looks each second: the group may have been out of reach, and
// whoever started it has not said that it is gone.
func (s *sentry) enforce() {
	if s.deadline == 0 {
		setTimer(s.timer, 0)
		return
	}
	at := s.deadline
	if now := boottime(); now >= at {
		if !s.parked || s.astray() {
			s.slay()
		}
		at = now + second
	}
	setTimer(s.timer, at)
}

// astray reports whether a parked command runs although nobody has said so:
// somebody has continued it without its starter, who is stopped and asks for no lease. The starter says so
// before it continues the command, so there is nothing to be read then.
func (s *sentry) astray() bool {
	p, ok := inspect(s.group)
	if !ok || !p.runs() {
		return false
	}
	orders := pollFd{fd: Orders, events: pollIn}
	_, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&orders)), 1, uintptr(unsafe.Pointer(&syscall.Timespec{})), 0, 0, 0)
	return e == 0 && orders.revents == 0
}

// await blocks until orders or the timer can be read, and prefers orders: what
// came before the deadline counts, however late the guard wakes up.
func await(orders, timer int) bool {
	fds := [2]pollFd{{fd: int32(orders), events: pollIn}, {fd: int32(timer), events: pollIn}}
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 2, 0, 0, 0, 0)
		if e == 0 {
			return fds[0].revents != 0
		}
	}
}
