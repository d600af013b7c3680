package guard

import "syscall"

// A Census is the members of a process group, by what they do.
type Census struct {
	Running int // neither stopped nor dead
	Stopped int // by a signal, or held by a debugger
	Dead    int // ended, and not reaped
	Unseen  int // in the group, but /proc does not show what they do
}

// Living is how many may still run, now or when they are continued.
func (c Census) Living() int { return c.Running + c.Stopped + c.Unseen }

// Still reports that nobody runs, as far as the group has been seen.
func (c Census) Still() bool { return c.Running == 0 && c.Unseen == 0 }

// Look counts the members of a group. kill(2) is the truth of whether there are any, /proc
// only counts: a group of which it shows nobody has one member that is unseen. Members that
// /proc does not even list (hidepid) are missing beside others; Hidden finds them.
func Look(group int) Census { return look(group, boottime()+killLimit) }

func look(group int, end int64) Census { return new(Lookout).look(group, end) }

// A Lookout looks again and again whether a group stands still, and knows its members from the
// last time: who is new was forked by one of them, who ran for that. All processes it looks
// through each second, and whenever a member is not as it was.
type Lookout struct {
	stopped [64]int // members
	known   int     // so many of them
	again   int64   // when all processes are due
}

// Still reports that every member of the group is seen to be stopped or dead.
func (w *Lookout) Still(group int) bool {
	now := boottime()
	return now < w.again && w.unchanged(group) || w.look(group, now+killLimit).Still()
}

// unchanged reports that all who were stopped still are. A process is continued with all of its
// threads, so one shows it, the first if that has not ended.
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
	return c
}

// add remembers who is stopped. If there are too many, all processes are due each time.
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

// mayBelong leaves out most processes at the price of one system call, a tenth of a look
// into /proc.
func mayBelong(pid, group int) bool {
	is, err := syscall.Getpgid(pid)
	return err == nil && is == group || err == syscall.EPERM || err == syscall.EACCES
}

func belongs(pid, group int) bool {
	is, err := syscall.Getpgid(pid)
	return err == nil && is == group
}

// isThread reports that a number is that of a thread, and not of a process.
func isThread(pid int) bool {
	_, _, e := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(pid), 0)
	return e == syscall.ESRCH
}

// exists reports that a group has members, if only dead ones.
func exists(group int) bool { return syscall.Kill(-group, 0) != syscall.ESRCH }

// mostProcesses is more than the numbers of processes that there can be (PID_MAX_LIMIT).
const mostProcesses = 1 << 22

// Hidden counts the members of a group that /proc does not show. It asks for every number that
// a process can have: 13 ms of a processor with 32,768 of them, 1 s with four million.
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

// A Waiter is a member that stands in the kernel, not to be interrupted, and a stopped child of
// it that has executed nothing. If that child was forked by vfork(2), the one waits until the
// other has executed a file, and neither can be stopped for good or go on.
type Waiter struct{ Parent, Child int }

// Runs reports that a process is neither stopped nor dead. One that cannot be seen does not.
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
