package guard

import "syscall"

const (
	// killLimit is how long a guard tries to see the group gone. It is dead
	// after the first SIGKILL, but for processes in the kernel (state D) and
	// zombies that nobody reaps.
	killLimit = 2 * second

	// longestPause is between two SIGKILLs for somebody who does not go.
	longestPause = 400 * millisecond
)

// killCommand kills the command: its group if that is known, else whatever may just
// have been started. It takes killLimit at most.
func (g *guard) killCommand() {
	end := boottime() + killLimit
	if g.group != 0 {
		killGroup(g.group, end)
	} else {
		g.killStarting(end)
	}
}

// killGroup sends SIGKILL until nobody is left to get it (ESRCH), nobody may be sent
// it (EPERM), or until end. After a few times it looks who is left: zombies get it for ever.
func killGroup(group int, end int64) {
	for pause := millisecond; syscall.Kill(-group, syscall.SIGKILL) == nil; pause = min(2*pause, longestPause) {
		now := boottime()
		if now >= end || pause > 10*millisecond && look(group, end).Living() == 0 {
			return
		}
		sleep(min(pause, end-now))
	}
}

// Living counts the processes of a group that run, or could: zombies are none.
func Living(group int) int { return Look(group).Living() }

// Bearing is the processes that have an entry in their environment, and run or could: zombies
// are none, and what may not be read is not among them.
func Bearing(entry string) (pids []int) {
	eachSeen(boottime()+killLimit, func(p process) {
		if !p.dead() && marked(p.pid, []byte(entry)) {
			pids = append(pids, p.pid)
		}
	})
	return pids
}

// killStarting kills a command whose starter died, or stands still, between the fork
// and the message with its group. Whoever is in the starter's session and has the
// marker in its environment belongs to it. A session that began outside of this
// PID namespace has the number 0, like any other such. Where /proc is another
// namespace's, its numbers mean somebody else.
//
// What has been forked may wait for a processor, on a busy machine for long, before
// it can be told from others. It has the dead starter's end of the orders until
// execve: as long as they have not ended, somebody will come.
func (g *guard) killStarting(end int64) {
	const (
		shortest = 10 * millisecond
		enough   = 3 // looks in a row that find nobody
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

// killMarked sends SIGKILL to all that belong to a command that is being started, and
// reports whether there was anybody.
func (g *guard) killMarked(end int64) (found bool) {
	eachSeen(end, func(p process) {
		if p.session == g.session && !p.dead() && (marked(p.pid, g.marker) || g.inExecve(p)) {
			_ = syscall.Kill(-p.group, syscall.SIGKILL)
			found = true
		}
	})
	return found
}

// inExecve reports whether p is the command, forked but kept by execve(2) until now: it
// leads a group of its own, but has executed nothing. If the starter is dead, it
// still has the starter's end of the pipe of orders, which execve will close.
func (g *guard) inExecve(p process) bool {
	if !p.forked || p.group != p.pid {
		return false
	}
	return p.parent == g.starter && !g.orphaned() || g.hasOrders(p.pid)
}

// orphaned reports that the starter is dead.
func (g *guard) orphaned() bool { return syscall.Getppid() != g.starter }

// hasOrders reports whether a process has the other end of the pipe of orders.
func (g *guard) hasOrders(pid int) bool {
	var ours, its [64]byte
	pipe := readLink(0, "/fd/"+decimal(Orders), ours[:])
	return len(pipe) > 0 && string(readLink(pid, g.orders, its[:])) == string(pipe)
}
