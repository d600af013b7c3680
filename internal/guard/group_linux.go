package guard

import "syscall"

// A Census counts the members of a process group by their state.
type Census struct {
	Running int // neither stopped nor dead
	Stopped int // by a signal, or held by a debugger
	Dead    int // ended, and not reaped
	Unseen  int // in the group, but /proc does not show what they do
}

// Living counts the members that run, or may run once they are continued.
func (c Census) Living() int { return c.Running + c.Stopped + c.Unseen }

// Still reports whether no member runs, as far as the group can be seen.
func (c Census) Still() bool { return c.Running == 0 && c.Unseen == 0 }

// Look counts the members of a group. kill(2) tells reliably whether there are any, /proc only
// counts them. If /proc shows no member of such a group, one member counts as unseen. Look misses
// members that /proc does not even list (hidepid) beside visible ones; Hidden finds them.
func Look(group int) Census { return look(group, boottime()+killLimit) }

func look(group int, end int64) Census { return new(Lookout).look(group, end) }

// A Lookout checks repeatedly whether a group stands still. It remembers the members: a new member
// was forked by a known one, which must have run for that. It searches all processes each second,
// and whenever a member has changed.
type Lookout struct {
	stopped [64]int // members
	known   int     // their number
	again   int64   // when a search of all processes is due
}

// Still reports whether every member of the group is seen to be stopped or dead.
func (w *Lookout) Still(group int) bool {
	now := boottime()
	return now < w.again && w.unchanged(group) || w.look(group, now+killLimit).Still()
}

// unchanged reports whether all stopped members are still stopped. SIGCONT continues all threads
// of a process. So one thread shows it: the first, unless that has ended.
func (w *Lookout) unchanged(group int) bool {
	for _, pid := range w.stopped[:w.known] {
		p, ok := inspect(pid)
		if !ok || p.group != group || p.dead() || !p.stands() && (!p.ended() || p.runs()) {
			return false
		}
	}
	return true
}

func (w *Lookout) look(group int, end int64) (c Census) {
	w.known, w.again = 0, boottime()+second
	whole := procIsOurs()
	if whole {
		eachProcess(end, func(pid int) {
			if c.add(group, pid) {
				w.add(pid)
			}
		})
		whole = boottime() < end
	}
	if (!whole || c == Census{}) && exists(group) {
		c.Unseen++
	}
	if !c.Still() {
		w.again = 0 // the members that run are not among the known ones
	}
	return c
}

// add remembers a stopped member. If there are too many, each check searches all processes.
func (w *Lookout) add(pid int) {
	if w.known == len(w.stopped) {
		w.again = 0
		return
	}
	w.stopped[w.known] = pid
	w.known++
}

// add counts a process if it is a member, and reports whether it is stopped.
func (c *Census) add(group, pid int) (stopped bool) {
	if !mayBelong(pid, group) {
		return false
	}
	p, ok := inspect(pid)
	switch {
	case ok && p.group != group:
	case !ok && belongs(pid, group):
		c.Unseen++
	case !ok: // it has ended meanwhile
	case p.dead():
		c.Dead++
	case p.runs():
		c.Running++
	default:
		c.Stopped++
		return true
	}
	return false
}

// mayBelong rules out most processes with one system call, which costs a tenth of a read from
// /proc.
func mayBelong(pid, group int) bool {
	is, err := syscall.Getpgid(pid)
	return err == nil && is == group || err == syscall.EPERM || err == syscall.EACCES
}

func belongs(pid, group int) bool {
	is, err := syscall.Getpgid(pid)
	return err == nil && is == group
}

// isThread reports whether a number belongs to a thread that is not the first of its process.
func isThread(pid int) bool {
	_, _, e := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(pid), 0)
	return e == syscall.ESRCH
}

// exists reports whether a group has members, even if all are dead.
func exists(group int) bool { return syscall.Kill(-group, 0) != syscall.ESRCH }

// mostProcesses exceeds the largest number of a process (PID_MAX_LIMIT).
const mostProcesses = 1 << 22

// Hidden counts the members of a group that /proc does not show. It tries every number that a
// process can have: 13 ms of a processor for 32,768 of them, 1 s for four million.
func Hidden(group int) (n int) {
	var text [16]byte
	line, _ := cut(readFile(0, "/../sys/kernel/pid_max", text[:]), '\n')
	most := number(line)
	if most <= 0 {
		most = mostProcesses
	}
	ours := procIsOurs()
	for pid := 1; pid <= most; pid++ {
		if !belongs(pid, group) || isThread(pid) {
			continue
		}
		if _, ok := inspect(pid); !ours || !ok && belongs(pid, group) {
			n++
		}
	}
	return n
}

// A Waiter is a member in uninterruptible sleep, with a stopped child that has executed nothing.
// If vfork(2) forked the child, the parent waits until the child executes a file, and neither can
// be stopped for good or go on.
type Waiter struct{ Parent, Child int }

// Runs reports whether a process is neither stopped nor dead. It returns false for one that cannot
// be seen.
func Runs(pid int) bool {
	p, ok := inspect(pid)
	return ok && procIsOurs() && p.runs()
}

// Waiters finds such members of a group.
func Waiters(group int) (all []Waiter) {
	parents := map[int]bool{}
	var children []process
	eachSeen(boottime()+killLimit, func(p process) {
		if p.group != group {
			return
		}
		if p.state == 'D' {
			parents[p.pid] = true
		}
		if p.forked && !p.dead() && !p.runs() {
			children = append(children, p)
		}
	})
	for _, p := range children {
		if parents[p.parent] {
			all = append(all, Waiter{Parent: p.parent, Child: p.pid})
		}
	}
	return all
}

// OnlyWaiters reports whether the members of a group that are not stopped are all Waiters. None of
// them executes anything before another process continues its child.
func OnlyWaiters(group int) bool {
	parents := map[int]bool{}
	for _, w := range Waiters(group) {
		parents[w.Parent] = true
	}
	c := Look(group)
	return c.Unseen == 0 && c.Running <= len(parents)
}
