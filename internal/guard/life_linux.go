package guard

import (
	"syscall"
	"unsafe"
)

// A guard is what a guard process knows.
type guard struct {
	starter      int     // its process
	orders       string  // "/fd/N": where the starter has the other end of the orders
	group        int     // the command's process group; 0 before it is known
	started      bool    // it has been executed
	session      int     // where a command has perhaps been started, if there is a marker and group is 0
	marker       []byte  // the entry of its environment that no other process has
	deadline     int64   // CLOCK_BOOTTIME, ns; 0: none
	parked       bool    // every member of the group is stopped, and its starter mostly too
	watch        Lookout // of such a group
	enforceAgain int64   // not before that the deadline is enforced again
	timer        int     // a timerfd, at what comes next
}

const (
	// orphanLimit is how long a guard lives at most without its starter.
	orphanLimit = 5 * second / 2

	// killAgain is between two looks whether somebody could not be killed.
	killAgain = second

	// parkedPoll is between two looks at a parked group whose lease has ended.
	parkedPoll = 50 * millisecond

	// starterPoll is between two looks whether the starter lives, while the command is
	// being started: until execve has closed its copy, the orders do not end.
	starterPoll = 50 * millisecond
)

// run is the whole life of a guard; it returns its exit status. A guard that is
// not needed any more is killed. It holds kept descriptors; the starter has the other
// end of the orders on its descriptor of that number.
func run(kept, orders int) (status int) {
	isolate(FirstKept + kept)
	g := &guard{starter: syscall.Getppid(), orders: "/fd/" + decimal(orders), timer: newTimer()}
	if g.timer < 0 {
		return 1
	}
	if syscall.Kill(syscall.Getpid(), 0) != nil {
		return Powerless // nor could its starter end it
	}
	// If this fails the starter is dead already: the end of the orders will say so,
	// and what stands before it whom to kill.
	_, _ = syscall.Write(Ready, []byte{'!'})
	for buf := make([]byte, 16*Size); g.serve(buf); {
	}
	killSelfAfter(orphanLimit) // nobody is left to look after the guard
	g.killCommand()
	return 0
}

// serve waits for orders or the timer and does what is due. It reports whether the
// starter lives.
func (g *guard) serve(buf []byte) (goOn bool) {
	if !awaitOrders(g.timer) {
		switch {
		case g.starting() && g.orphaned():
			return false
		case g.starting() && hasNews(): // of a child that has come before the deadline: it is read first
		default:
			g.enforce()
		}
		return true
	}
	n, err := syscall.Read(Orders, buf)
	if err == syscall.EINTR {
		return true
	}
	if err != nil || n < Size {
		return false
	}
	for at := 0; at+Size <= n; at += Size {
		g.obey(decode(buf[at : at+Size]))
	}
	if n < len(buf) {
		g.enforce()
	} else {
		setTimer(g.timer, 1) // at once, unless there is more, perhaps a later deadline
	}
	return true
}

func (g *guard) obey(m Message) {
	switch m.Kind {
	case Starting:
		g.group, g.started, g.session, g.marker = 0, false, int(m.Value), []byte(m.Text)
	case Forked, Watch:
		g.group, g.started = int(m.Value), m.Kind == Watch
		g.enforceAgain = 0 // a deadline that has passed holds for it, too, and at once
	case Deadline:
		g.deadline = m.Value
	case Park:
		g.parked = true
		g.watch = Lookout{}
	case Unpark:
		g.parked = false
	}
}

// starting reports that a command has been forked, perhaps, and not yet executed.
func (g *guard) starting() bool { return !g.started && len(g.marker) > 0 }

// enforce kills the group if its deadline has passed, and sets the timer to what
// comes next. From the deadline on it looks each second: the group may have been out
// of reach, and whoever started it has not said that it is gone. A parked group it looks
// at more often: somebody may continue a member of it any time.
func (g *guard) enforce() {
	now, next := boottime(), g.deadline
	if next != 0 {
		next = max(next, g.enforceAgain)
	}
	if next != 0 && now >= next {
		next = now + parkedPoll
		if !g.parked || g.runsParked() {
			g.killCommand()
			next = now + killAgain
		}
		g.enforceAgain = next
	}
	if g.starting() && (next == 0 || next > now+starterPoll) {
		next = now + starterPoll
	}
	setTimer(g.timer, next)
}

const (
	pollIn     = 1  // POLLIN
	pollHangUp = 16 // POLLHUP
)

type pollFd struct {
	fd              int32
	events, revents int16
}

// runsParked reports whether a member of a parked command runs, or may, although nobody has
// said so: somebody has continued it without its starter, who is stopped and asks for no lease.
// The starter says so before it continues the command, so there is nothing to be read then.
func (g *guard) runsParked() bool {
	if g.group == 0 || g.watch.Still(g.group) {
		return false
	}
	orders, ok := pollOrders()
	return ok && orders == 0
}

// hasNews reports that there are orders to be read.
func hasNews() bool {
	orders, ok := pollOrders()
	return ok && orders&pollIn != 0
}

// ordersEnded reports that nobody has the other end of the orders any more.
func ordersEnded() bool {
	orders, ok := pollOrders()
	return ok && orders&pollHangUp != 0
}

// pollOrders is what there is of orders, without waiting.
func pollOrders() (events int16, ok bool) {
	orders := pollFd{fd: Orders, events: pollIn}
	_, _, e := syscall.Syscall6(syscall.SYS_PPOLL,
		uintptr(unsafe.Pointer(&orders)), 1, uintptr(unsafe.Pointer(&syscall.Timespec{})), 0, 0, 0)
	return orders.revents, e == 0
}

// awaitOrders blocks until orders or the timer can be read, and reports whether orders
// can. They come first: what came before the deadline counts, however late the guard
// wakes up.
func awaitOrders(timer int) bool {
	fds := [2]pollFd{{fd: Orders, events: pollIn}, {fd: int32(timer), events: pollIn}}
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 2, 0, 0, 0, 0)
		if e == 0 {
			return fds[0].revents != 0
		}
	}
}
