package guard

import "syscall"

const (
	// killLimit is how long a guard tries to see the group dead. The first SIGKILL kills it,
	// except processes in the kernel (state D) and zombies that are not reaped.
	killLimit = 2 * second

	// longestPause is the longest time between two SIGKILLs for a group that does not end.
	longestPause = 400 * millisecond
)

// killCommand kills the command: its group if that is known, otherwise any process that may just
// have been started. It takes killLimit at most.
func (g *guard) killCommand() {
	end := boottime() + killLimit
	if g.group != 0 {
		killGroup(g.group, end)
	} else {
		g.killStarting(end)
	}
}

// killGroup sends SIGKILL until no member is left (ESRCH), no member may get it (EPERM), or until
// end. After a few times it checks for living members: zombies accept signals for ever.
func killGroup(group int, end int64) {
	for pause := millisecond; syscall.Kill(-group, syscall.SIGKILL) == nil; pause = min(2*pause, longestPause) {
		now := boottime()
		if now >= end || pause > 10*millisecond && look(group, end).Living() == 0 {
			return
		}
		sleep(min(pause, end-now))
	}
}

// Living counts the processes of a group that run, or could run. It does not count zombies.
func Living(group int) int { return Look(group).Living() }

// Bearing returns the processes with entry in their environment that run, or could run. It leaves
// out zombies, and processes whose environment may not be read.
func Bearing(entry string) (pids []int) {
	eachSeen(boottime()+killLimit, func(p process) {
		if !p.dead() && marked(p.pid, []byte(entry)) {
			pids = append(pids, p.pid)
		}
	})
	return pids
}

// killStarting kills a command whose starter died, or stands still, between the fork and the
// message with its group. A process belongs to the command if it is in the starter's session and
// has the marker in its environment. A session that began outside this PID namespace has the
// number 0, like any other such session. Where /proc belongs to another namespace, its numbers
// mean other processes.
//
// On a busy machine a forked process may wait long for a processor before it can be recognized. It
// keeps the dead starter's end of the orders open until execve: as long as that is open, a process
// will still appear.
func (g *guard) killStarting(end int64) {
	const (
		shortest = 10 * millisecond
		enough   = 3 // looks in a row that find no process
	)
	if len(g.marker) == 0 || !procIsOurs() {
		return
	}
	pause := shortest
	for vain := 0; vain < enough; {
		awaited := g.orphaned() && !ordersEnded() // before the look: execve may come between the two
		switch {
		case g.killMarked(end):
			vain, pause = 0, min(2*pause, longestPause)
		case awaited:
			vain, pause = 0, shortest
		default:
			vain, pause = vain+1, shortest
		}
		now := boottime()
		if now >= end {
			return
		}
		sleep(min(pause, end-now))
	}
}

// killMarked sends SIGKILL to all processes of a command that is being started, and reports
// whether there were any.
func (g *guard) killMarked(end int64) (found bool) {
	eachSeen(end, func(p process) {
		if p.session == g.session && !p.dead() && (marked(p.pid, g.marker) || g.inExecve(p)) {
			_ = syscall.Kill(-p.group, syscall.SIGKILL)
			found = true
		}
	})
	return found
}

// inExecve reports whether p is the command, forked but still kept by execve(2): it leads a group
// of its own, but has executed nothing. If the starter is dead, p still has the starter's end of
// the orders, which execve will close.
func (g *guard) inExecve(p process) bool {
	if !p.forked || p.group != p.pid {
		return false
	}
	return p.parent == g.starter && !g.orphaned() || g.hasOrders(p.pid)
}

// orphaned reports whether the starter is dead.
func (g *guard) orphaned() bool { return syscall.Getppid() != g.starter }

// hasOrders reports whether a process has the other end of the pipe of orders.
func (g *guard) hasOrders(pid int) bool {
	var ours, its [64]byte
	pipe := readLink(0, "/fd/"+decimal(Orders), ours[:])
	return len(pipe) > 0 && string(readLink(pid, g.orders, its[:])) == string(pipe)
}
