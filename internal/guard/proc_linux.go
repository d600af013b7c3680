package guard

import "syscall"

// A process holds the fields of /proc/PID/stat (proc(5)), which describe its first thread.
// /proc/TID/stat describes any other thread.
type process struct {
	pid, parent, group, session int
	state                       byte
	forked                      bool // and nothing executed since
	threads                     int
}

// forkNoExec is PF_FORKNOEXEC of the kernel's flags of a process.
const forkNoExec = 0x40

// dead reports whether a process has ended, reaped or not. The first thread may end before the
// others.
func (p process) dead() bool { return p.ended() && p.threads <= 1 }

// ended reports whether the thread of this state has ended.
func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }

// stands reports whether the thread of this state is stopped, or held by a debugger.
func (p process) stands() bool { return p.state == 'T' || p.state == 't' }

// runs reports whether a process is neither dead nor stopped. Each of its threads stops by itself,
// and one in the kernel (state D) stops when it comes back.
func (p process) runs() bool {
	switch {
	case p.dead(), p.threads <= 1 && p.stands():
		return false
	case p.threads <= 1 || !p.stands() && !p.ended():
		return true
	}
	looked, runs := false, false
	eachNumbered("/task", p.pid, func(thread int) bool {
		t, ok := inspect(thread)
		looked, runs = true, ok && !t.stands() && !t.ended()
		return !runs
	})
	return runs || !looked
}

// eachProcess calls f for every process that /proc lists, until end (boottime).
func eachProcess(end int64, f func(pid int)) {
	eachNumbered("", listed, func(pid int) bool {
		f(pid)
		return boottime() < end
	})
}

// eachSeen calls f for every visible process, until end (boottime).
func eachSeen(end int64, f func(process)) {
	eachProcess(end, func(pid int) {
		if p, ok := inspect(pid); ok {
			f(p)
		}
	})
}

// Executed reports whether a process has executed a file since it was forked. It works until the
// process is reaped.
func Executed(pid int) bool {
	p, ok := inspect(pid)
	return ok && !p.forked
}

// inspect reads /proc/PID/stat: "PID (NAME) STATE PPID GROUP SESSION TTY TPGID FLAGS ...", where
// NAME may hold anything, brackets and blanks included.
func inspect(pid int) (process, bool) {
	var stat [1 << 10]byte
	b := readFile(pid, "/stat", stat[:])
	end := len(b)
	for end > 0 && b[end-1] != ')' {
		end--
	}
	tail := b[end:]
	if end == 0 || len(tail) < 4 {
		return process{}, false
	}
	p := process{pid: pid, state: tail[1]}
	p.parent, tail = field(tail[3:])
	p.group, tail = field(tail)
	p.session, tail = field(tail)
	_, tail = field(tail)
	_, tail = field(tail)
	flags, tail := field(tail)
	p.forked = flags&forkNoExec != 0
	for range 10 { // page faults, times, priorities
		_, tail = field(tail)
	}
	p.threads, _ = field(tail)
	return p, true
}

// procIsOurs reports whether /proc numbers the processes as this namespace does.
func procIsOurs() bool {
	var status [32]byte
	first, _ := cut(readFile(0, "/stat", status[:]), ' ')
	return number(first) == syscall.Getpid()
}

// marked reports whether marker is an entry of the process's environment. A process whose
// environment may not be read may not be killed either.
func marked(pid int, marker []byte) bool {
	fd := openFile(pid, "/environ")
	if fd < 0 {
		return false
	}
	defer syscall.Close(fd)
	var buf [4 << 10]byte
	search := entrySearch{entry: marker}
	for range mostEnvironment / len(buf) {
		n, err := syscall.Read(fd, buf[:])
		if err != nil || n <= 0 {
			break
		}
		if search.found(buf[:n]) {
			return true
		}
	}
	return search.matched == len(marker) // the last entry
}

// An entrySearch looks for one entry of an environment, which comes piece by piece.
type entrySearch struct {
	entry   []byte
	matched int // length of the present entry's match with entry; -1: no match
}

// found reads on, and reports whether it has reached the end of the entry.
func (s *entrySearch) found(environ []byte) bool {
	for _, c := range environ {
		switch {
		case c == 0 && s.matched == len(s.entry):
			return true
		case c == 0:
			s.matched = 0
		case s.matched >= 0 && s.matched < len(s.entry) && c == s.entry[s.matched]:
			s.matched++
		default:
			s.matched = -1
		}
	}
	return false
}

// mostEnvironment exceeds the longest environment that the kernel allows (execve(2)).
const mostEnvironment = 16 << 20
