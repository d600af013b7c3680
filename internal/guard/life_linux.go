package guard

import (
	"syscall"
	"unsafe"
)

// A guard holds the state of a guard process.
type guard struct {
	starter      int     // its process
	orders       string  // "/fd/N": the starter's descriptor of the other end of the orders
	group        int     // the command's process group; 0 before it is known
	started      bool    // it has been executed
	session      int     // where a command may have been started, if there is a marker and group is 0
	marker       []byte  // the entry of its environment that no other process has
	deadline     int64   // CLOCK_BOOTTIME, ns; 0: none
	parked       bool    // every member of the group is stopped, and usually its starter too
	watch        Lookout // of such a group
	spare        int64   // looks that may find a running member: its starter stops it again
	found        int64   // looks in a row that have found one
	enforceAgain int64   // the deadline is not enforced again before that
	timer        int     // a timerfd, set to the next event
}

const (
	// orphanLimit is how long a guard lives at most without its starter.
	orphanLimit = 5 * second / 2

	// killAgain is the time between two tries to kill a group that was out of reach.
	killAgain = second

	// parkedPoll is the time between two looks at a parked group whose lease has ended.
	parkedPoll = 40 * millisecond

	// starterPoll is the time between two checks of the starter while the command is being
	// started. Until execve has closed its copy, the orders do not end.
	starterPoll = 50 * millisecond
)

// run is the whole life of a guard; it returns its exit status. The starter kills a guard that it
// no longer needs. The guard holds kept descriptors; the starter has the other end of the orders
// on its descriptor of that number.
func run(kept, orders int) (status int) {
	isolate(FirstKept + kept)
	g := &guard{starter: syscall.Getppid(), orders: "/fd/" + decimal(orders), timer: newTimer()}
	if g.timer < 0 {
		return 1
	}
	if syscall.Kill(syscall.Getpid(), 0) != nil {
		return Powerless // its starter could not end it either
	}
	// If this fails the starter is dead already: the orders then end, and the messages before that
	// end name the group to kill.
	_, _ = syscall.Write(Ready, []byte{'!'})
	for buf := make([]byte, 16*Size); g.serve(buf); {
	}
	killSelfAfter(orphanLimit) // no process is left to look after the guard
	g.killCommand()
	return 0
}

// serve waits for orders or the timer and does what is due. It reports whether the starter lives.
func (g *guard) serve(buf []byte) (goOn bool) {
	if !awaitOrders(g.timer) {
		switch {
		case g.starting() && g.orphaned():
			return false
		case g.starting() && hasNews(): // a child's message that came before the deadline is read first
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
		setTimer(g.timer, 1) // at once, unless there are more messages, perhaps a later deadline
	}
	return true
}

func (g *guard) obey(m Message) {
	switch m.Kind {
	case Starting:
		g.group, g.started, g.session, g.marker = 0, false, int(m.Value), []byte(m.Text)
	case Forked, Watch:
		g.group, g.started = int(m.Value), m.Kind == Watch
		g.enforceAgain = 0 // a deadline that has passed applies to the new group too, and at once
	case Deadline:
		g.deadline = m.Value
	case Park:
		g.parked, g.spare, g.found = true, m.Value, 0
		g.watch = Lookout{}
	case Unpark:
		g.parked = false
	}
}

// starting reports whether a command may have been forked, and has not yet executed its file.
func (g *guard) starting() bool { return !g.started && len(g.marker) > 0 }

// enforce kills the group if its deadline has passed, and sets the timer to the next event. From
// the deadline on it tries each second: the group may have been out of reach, and its starter has
// not reported its end. It checks a parked group more often: another process may continue a member
// at any time.
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

// runsParked reports whether a member of a parked command runs, or may run, without a message from
// the starter. Another process has continued it, and the starter is stopped and asks for no lease,
// or does not stop it again in time. The starter sends a message before it continues the command,
// so then the orders are not empty.
func (g *guard) runsParked() bool {
	if g.group == 0 || g.watch.Still(g.group) {
		g.found = 0
		return false
	}
	if orders, ok := pollOrders(); !ok || orders != 0 || g.spare > 0 && OnlyWaiters(g.group) {
		return false
	}
	g.found++
	return g.found > g.spare
}

// hasNews reports whether there are orders to read.
func hasNews() bool {
	orders, ok := pollOrders()
	return ok && orders&pollIn != 0
}

// ordersEnded reports whether no process has the other end of the orders any more.
func ordersEnded() bool {
	orders, ok := pollOrders()
	return ok && orders&pollHangUp != 0
}

// pollOrders returns the events on the orders, without waiting.
func pollOrders() (events int16, ok bool) {
	orders := pollFd{fd: Orders, events: pollIn}
	_, _, e := syscall.Syscall6(syscall.SYS_PPOLL,
		uintptr(unsafe.Pointer(&orders)), 1, uintptr(unsafe.Pointer(&syscall.Timespec{})), 0, 0, 0)
	return orders.revents, e == 0
}

// awaitOrders blocks until orders or the timer can be read, and reports whether orders can. Orders
// come first: those that came before the deadline count, however late the guard wakes up.
func awaitOrders(timer int) bool {
	fds := [2]pollFd{{fd: Orders, events: pollIn}, {fd: int32(timer), events: pollIn}}
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 2, 0, 0, 0, 0)
		if e == 0 {
			return fds[0].revents != 0
		}
	}
}
