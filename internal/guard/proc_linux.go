package guard

import (
	"syscall"
	"unsafe"
)

// A process is what proc(5) says in /proc/PID/stat.
type process struct {
	pid, parent, group, session int
	state                       byte
	forked                      bool // and nothing executed since
}

// forkNoExec is PF_FORKNOEXEC of the kernel's flags of a process.
const forkNoExec = 0x40

// dead reports that a process has ended, reaped or not.
func (p process) dead() bool { return p.state == 'Z' || p.state == 'X' }

// runs reports that a process is neither dead nor stopped.
func (p process) runs() bool { return !p.dead() && p.state != 'T' && p.state != 't' }

// eachProcess calls f for every process that can be seen, until end (boottime).
// All that it needs is on the stack: a guard has no garbage collection, and walks may
// be inside of each other.
func eachProcess(end int64, f func(process)) {
	dir, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(dir)
	eachEntry(dir, func(pid int) bool {
		if p, ok := inspect(pid); ok {
			f(p)
		}
		return boottime() < end
	})
}

// eachEntry calls f with the names in an open directory that are numbers, until it
// returns false.
func eachEntry(dir int, f func(int) bool) {
	var buf [4 << 10]byte
	for {
		n, err := syscall.Getdents(dir, buf[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 || n > len(buf) || !eachNumber(buf[:n], f) {
			return
		}
	}
}

// eachNumber does that with what getdents(2) has written, and reports whether to go
// on: not if f does not want to, nor behind an entry that is none.
func eachNumber(entries []byte, f func(int) bool) bool {
	const (
		lengthAt = int(unsafe.Offsetof(syscall.Dirent{}.Reclen))
		nameAt   = int(unsafe.Offsetof(syscall.Dirent{}.Name))
	)
	for len(entries) > 0 {
		if len(entries) <= nameAt {
			return false
		}
		length := int(*(*uint16)(unsafe.Pointer(&entries[lengthAt])))
		if length <= nameAt || length > len(entries) {
			return false
		}
		name, _ := cut(entries[nameAt:length], 0)
		if n := number(name); n >= 0 && !f(n) {
			return false
		}
		entries = entries[length:]
	}
	return true
}

// cut is bytes.Cut, without its package.
func cut(b []byte, at byte) (before, after []byte) {
	for i, c := range b {
		if c == at {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// Executed reports whether a process has executed a file since it was forked. It may
// have ended, but not been reaped.
func Executed(pid int) bool {
	p, ok := inspect(pid)
	return ok && !p.forked
}

// inspect reads /proc/PID/stat: "PID (NAME) STATE PPID GROUP SESSION TTY TPGID FLAGS ...",
// where NAME may hold anything, brackets and blanks included.
func inspect(pid int) (process, bool) {
	var stat [1 << 10]byte
	b := slurp(pid, "/stat", stat[:])
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
	flags, _ := field(tail)
	p.forked = flags&forkNoExec != 0
	return p, true
}

// procIsOurs reports that /proc shows the processes by the numbers that they have here.
func procIsOurs() bool {
	var status [32]byte
	first, _ := cut(slurp(0, "/stat", status[:]), ' ')
	return number(first) == syscall.Getpid()
}

// field reads "N " off the front.
func field(b []byte) (value int, rest []byte) {
	first, rest := cut(b, ' ')
	return number(first), rest
}

// marked reports whether marker is an entry of the process's environment. What
// may not be read may not be killed either.
func marked(pid int, marker []byte) bool {
	fd := open(pid, "/environ")
	if fd < 0 {
		return false
	}
	defer syscall.Close(fd)
	var buf [4 << 10]byte
	match := 0 // how much of the entry is as in marker; -1: it is another one
	for range mostEnvironment / len(buf) {
		n, err := syscall.Read(fd, buf[:])
		if err != nil || n <= 0 {
			break
		}
		for _, c := range buf[:n] {
			switch {
			case c == 0 && match == len(marker):
				return true
			case c == 0:
				match = 0
			case match >= 0 && match < len(marker) && c == marker[match]:
				match++
			default:
				match = -1
			}
		}
	}
	return match == len(marker)
}

// mostEnvironment is more than the kernel lets an environment be (execve(2)).
const mostEnvironment = 16 << 20

// open opens a file of a process for reading; -1 if that cannot be.
func open(pid int, name string) int {
	var buf [64]byte
	path := procPath(buf[:0], pid, name)
	fd, _, e := syscall.RawSyscall6(syscall.SYS_OPENAT, 0, uintptr(unsafe.Pointer(&path[0])), syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
	if e != 0 {
		return -1
	}
	return int(fd)
}

// procPath adds "/proc/PID" and name to b; the process 0 is this one.
func procPath(b []byte, pid int, name string) []byte {
	b = append(b, "/proc/"...)
	if pid == 0 {
		b = append(b, "self"...)
	} else {
		b = appendDecimal(b, pid)
	}
	return append(append(b, name...), 0)
}

// slurp reads what fits into buf, nothing if the file cannot be read.
func slurp(pid int, name string, buf []byte) []byte {
	fd := open(pid, name)
	if fd < 0 {
		return nil
	}
	defer syscall.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := syscall.Read(fd, buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	return buf[:n]
}

// link reads a symbolic link of a process into buf, nothing if it cannot be read.
func link(pid int, name string, buf []byte) []byte {
	var room [64]byte
	path := procPath(room[:0], pid, name)
	n, _, e := syscall.RawSyscall6(syscall.SYS_READLINKAT, 0, uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if e != 0 {
		return nil
	}
	return buf[:n]
}

// number is the value of decimal digits, -1 for anything else.
func number(b []byte) int {
	const most = 1 << 27 // more than any process or descriptor has; ten times it is an int everywhere
	if len(b) == 0 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || n > most {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

func decimal(n int) string { return string(appendDecimal(nil, n)) }

func appendDecimal(b []byte, n int) []byte {
	if n >= 10 {
		b = appendDecimal(b, n/10)
	}
	return append(b, byte('0'+n%10))
}
