package guard

import "syscall"

const (
	millisecond = int64(1_000_000)
	second      = 1000 * millisecond

	// persistence is how long a guard tries to see the group gone. It is dead
	// after the first SIGKILL, but for processes in the kernel (state D) and
	// zombies that nobody reaps.
	persistence = 2 * second
)

// slay kills the command: its group if that is known, else whatever may just
// have been started.
func (s *sentry) slay() {
	if s.group != 0 {
		killGroup(s.group)
	} else {
		s.hunt()
	}
}

// killGroup sends SIGKILL until nobody is left to get it.
func killGroup(group int) {
	end := boottime() + persistence
	for pause := millisecond; syscall.Kill(-group, syscall.SIGKILL) == nil; pause *= 2 { // ESRCH: gone; EPERM: out of reach
		if pause > 10*millisecond && (boottime() > end || Living(group) == 0) {
			return
		}
		sleep(min(pause, 50*millisecond))
	}
}

// Living counts the processes of a group that run, or could: zombies are none.
// It may not be called by two goroutines at once.
func Living(group int) int {
	n := 0
	eachProcess(func(p process) {
		if p.group == group && !p.dead() {
			n++
		}
	})
	return n
}

// hunt is for a starter that died, or stands still, between the fork of the
// command and the message with its number. Whoever is in the starter's session
// and has the marker in its environment belongs to the command. A session that
// began outside of this PID namespace has the number 0, like any other such.
func (s *sentry) hunt() {
	if len(s.marker) == 0 {
		return
	}
	end := boottime() + persistence
	for quiet := 0; quiet < 3 && boottime() < end; quiet++ {
		eachProcess(func(p process) {
			if p.session == s.session && !p.dead() && (marked(p.pid, s.marker) || s.unborn(p)) {
				killGroup(p.group)
				quiet = 0
			}
		})
		sleep(10 * millisecond)
	}
}

// unborn reports whether p is the command, forked but kept by execve(2) until now:
// a child of the starter that leads a group of its own and still is the
// starter's image. If the starter is dead, PR_SET_PDEATHSIG has killed it.
func (s *sentry) unborn(p process) bool {
	return p.parent == s.starter && p.group == p.pid && syscall.Getppid() == s.starter &&
		string(commandLine(p.pid)) == string(commandLine(s.starter))
}
