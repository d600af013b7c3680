package guard

import (
	"syscall"
	"unsafe"
)

// A sentry is what a guard knows.
type sentry struct {
	starter  int    // its process
	orders   string // "/fd/N": where the starter has the other end of the orders
	group    int    // the command's process group; 0 before it is known
	session  int    // where a command has perhaps been started, if there is a marker and group is 0
	marker   []byte // the entry of its environment that no other process has
	deadline int64  // CLOCK_BOOTTIME, ns; 0: none
	parked   bool   // the group is stopped, and its starter too
	slain    int64  // when the deadline has last been enforced
	timer    int
}

const (
	// rest is how long a guard lives at most without its starter.
	rest = 5 * second / 2

	// again is between two looks whether somebody could not be killed.
	again = second

	// glance is between two looks whether the starter lives, while the command does
	// not: until execve has closed its copy, the orders do not end.
	glance = 50 * millisecond
)

// watch is the whole life of a guard; it returns its exit status. A guard that is
// not needed any more is killed.
func watch(kept, orders int) int {
	seclude(FirstKept + kept)
	s := &sentry{starter: syscall.Getppid(), orders: "/fd/" + decimal(orders), timer: newTimer()}
	if s.timer < 0 {
		return 1
	}
	// If this fails the starter is dead already: the end of the orders will say so,
	// and what stands before it whom to kill.
	_, _ = syscall.Write(Ready, []byte{'!'})
	buf := make([]byte, 16*Size)
	for {
		if !await(Orders, s.timer) {
			if s.expecting() && s.orphaned() {
				return s.lastAct()
			}
			s.enforce()
			continue
		}
		n, err := syscall.Read(Orders, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < Size {
			return s.lastAct()
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

// lastAct kills the command when the starter is gone, and nobody is left to look after the guard.
func (s *sentry) lastAct() (status int) {
	expire(rest)
	s.slay()
	return 0
}

// expecting reports that a command has been forked, perhaps, and not yet executed.
func (s *sentry) expecting() bool { return s.group == 0 && len(s.marker) > 0 }

// enforce kills the group if its deadline has passed, and sets the timer to what
// comes next. From the deadline on it looks each second: the group may have been out
// of reach, and whoever started it has not said that it is gone.
func (s *sentry) enforce() {
	now, next := boottime(), s.deadline
	if next != 0 {
		next = max(next, s.slain+again)
	}
	if next != 0 && now >= next {
		if !s.parked || s.astray() {
			s.slay()
		}
		s.slain, next = now, now+again
	}
	if s.expecting() && (next == 0 || next > now+glance) {
		next = now + glance
	}
	setTimer(s.timer, next)
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
