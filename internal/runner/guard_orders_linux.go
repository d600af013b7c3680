package runner

import (
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/forkexec"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// Extend tells the guard that the group may live until deadline (boottime). With the zero time
// only the end of this process counts.
func (g *Guard) Extend(deadline time.Time) {
	if g == nil {
		return
	}
	m := guard.Message{Kind: guard.Deadline}
	if !deadline.IsZero() {
		m.Value = max(1, boottime.Ticks(deadline))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.expired {
		g.deadline = m
		g.tell(m)
	}
}

// killNow makes the guard kill the command at once, and any that is started later.
func (g *Guard) killNow() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.expired {
		g.expired = true
		g.deadline = guard.Message{Kind: guard.Deadline, Value: 1}
		g.tell(g.deadline)
	}
}

// overdue reports whether the deadline has passed.
func (g *Guard) overdue() bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.deadline.Value != 0 && boottime.Ticks(boottime.Now()) >= g.deadline.Value
}

// starting announces a command with marker in its environment that is about to be started.
func (g *Guard) starting(marker string) {
	session, err := unix.Getsid(0)
	if err == nil && marker != "" {
		g.setGroup(guard.Message{Kind: guard.Starting, Value: int64(session), Text: marker})
	}
}

// watch tells the guard the number of the command's process group.
func (g *Guard) watch(group int) { g.setGroup(guard.Message{Kind: guard.Watch, Value: int64(group)}) }

// announcedBy makes the child that attr starts tell the guard its group, until done is called. If
// that message is lost, watch and the marker replace it.
func (g *Guard) announcedBy(attr *forkexec.Attr) (done func()) {
	attr.Announce = nil
	orders := g.copyOrders()
	if orders < 0 {
		return func() {}
	}
	attr.Announce, attr.AnnounceAt = guard.Message{Kind: guard.Forked}.Encode(), guard.ValueAt
	attr.AnnounceTo = uintptr(orders)
	return func() { unix.Close(orders) }
}

// copyOrders returns a second descriptor of the orders of the present guard, or -1. That guard may
// end at any time, and then its descriptor's number may go to another file.
func (g *Guard) copyOrders() int {
	if g == nil {
		return -1
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pid == 0 || g.closing {
		return -1
	}
	fd, err := unix.FcntlInt(uintptr(g.orders), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1
	}
	return fd
}

func (g *Guard) setGroup(m guard.Message) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.group = m
	g.tell(m)
}

// spareLooks is for how many looks the guard lets a member run that another process has continued,
// while this process stops it again.
const spareLooks = 1

func (g *Guard) park()   { g.setParking(guard.Message{Kind: guard.Park}) }
func (g *Guard) unpark() { g.setParking(guard.Message{Kind: guard.Unpark}) }

// parkStanding is park for a group that this process watches, too.
func (g *Guard) parkStanding() {
	g.setParking(guard.Message{Kind: guard.Park, Value: spareLooks})
}

func (g *Guard) setParking(m guard.Message) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parking = m
	g.tell(m)
}

// tell sends m if there is a guard; otherwise its successor gets it. A guard that stood still
// until the pipe was full would wake up to old deadlines: it is killed, and so replaced. g.mu is
// held.
func (g *Guard) tell(m guard.Message) {
	if g.pid != 0 && !g.closing && send(g.orders, m) == unix.EAGAIN {
		_ = unix.Kill(g.pid, unix.SIGKILL)
	}
}

// tellAll writes everything that a new guard must know to its pipe. g.mu is held.
func (g *Guard) tellAll(orders int) {
	for _, m := range []guard.Message{g.deadline, g.group, g.parking} {
		if m.Kind != 0 {
			send(orders, m)
		}
	}
}

func send(orders int, m guard.Message) error {
	for {
		if _, err := unix.Write(orders, m.Encode()); err != unix.EINTR {
			return err
		}
	}
}
