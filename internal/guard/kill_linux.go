package guard

import "syscall"

const (
	millisecond = int64(1_000_000)
	second      = 1000 * millisecond

	// persistence is how long a guard tries to see the group gone. It is dead
	// after the first SIGKILL, but for processes in the kernel (state D) and
	// zombies that nobody reaps.
	persistence = 2 * second

	// longestPause is between two SIGKILLs for somebody who does not go.
	longestPause = 400 * millisecond
)

// slay kills the command: its group if that is known, else whatever may just
// have been started. It takes persistence at most.
func (s *sentry) slay() {
	end := boottime() + persistence
	if s.group != 0 {
		killGroup(s.group, end)
	} else {
		s.hunt(end)
	}
}

// killGroup sends SIGKILL until nobody is left to get it, or until end.
func killGroup(group int, end int64) {
	for pause := millisecond; syscall.Kill(-group, syscall.SIGKILL) == nil; pause = min(2*pause, longestPause) { // ESRCH: gone; EPERM: out of reach
		now := boottime()
		if now >= end || pause > 10*millisecond && living(group, end) == 0 {
			return
		}
		sleep(min(pause, end-now))
	}
}

// Living counts the processes of a group that run, or could: zombies are none.
func Living(group int) int { return living(group, boottime()+persistence) }

func living(group int, end int64) (n int) {
	eachProcess(end, func(p process) {
		if p.group == group && !p.dead() {
			n++
		}
	})
	return n
}

// hunt is for a starter that died, or stands still, between the fork of the
// command and the message with its number. Whoever is in the starter's session
// and has the marker in its environment belongs to the command. A session that
// began outside of this PID namespace has the number 0, like any other such. Where
// /proc is another namespace's, its numbers mean somebody else.
func (s *sentry) hunt(end int64) {
	if len(s.marker) == 0 || !procIsOurs() {
		return
	}
	pause := 10 * millisecond
	for quiet := 0; quiet < 3; {
		if s.strike(end) {
			quiet, pause = 0, min(2*pause, longestPause)
		} else {
			quiet, pause = quiet+1, 10*millisecond
		}
		now := boottime()
		if now >= end {
			return
		}
		sleep(min(pause, end-now))
	}
}

// strike sends SIGKILL to all that hunt is for, and reports whether there was anybody.
func (s *sentry) strike(end int64) (found bool) {
	eachProcess(end, func(p process) {
		if p.session == s.session && !p.dead() && (marked(p.pid, s.marker) || s.unborn(p)) {
			_ = syscall.Kill(-p.group, syscall.SIGKILL)
			found = true
		}
	})
	return found
}

// unborn reports whether p is the command, forked but kept by execve(2) until now: it
// leads a group of its own, but has executed nothing. If the starter is dead, it
// still has the starter's end of the pipe of orders, which execve will close.
func (s *sentry) unborn(p process) bool {
	if !p.forked || p.group != p.pid {
		return false
	}
	return p.parent == s.starter && !s.orphaned() || s.linked(p.pid)
}

// orphaned reports that the starter is dead.
func (s *sentry) orphaned() bool { return syscall.Getppid() != s.starter }

// linked reports whether a process has the other end of the pipe of orders.
func (s *sentry) linked(pid int) bool {
	var ours, its [64]byte
	pipe := link(0, "/fd/"+decimal(Orders), ours[:])
	return len(pipe) > 0 && string(link(pid, s.orders, its[:])) == string(pipe)
}
