package guard

import (
	"syscall"
	"unsafe"
)

// A process is what proc(5) says in /proc/PID/stat.
type process struct {
	pid, parent, group, session int
	state                       byte
}

// dead reports that a process has ended, reaped or not.
func (p process) dead() bool { return p.state == 'Z' || p.state == 'X' }

// runs reports that a process is neither dead nor stopped.
func (p process) runs() bool { return !p.dead() && p.state != 'T' && p.state != 't' }

// Buffers: they are only touched, and so only take memory, when they are used.
var (
	entries     [32 << 10]byte
	stat        [1 << 10]byte
	environment [2 << 20]byte // more than the kernel lets an environment be by default
)

// eachProcess calls f for every process that can be seen.
func eachProcess(f func(process)) {
	dir, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(dir)
	for {
		n, err := syscall.Getdents(dir, entries[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		for at := 0; at < n; {
			e := (*syscall.Dirent)(unsafe.Pointer(&entries[at]))
			at += int(e.Reclen)
			if pid := number(name(e)); pid > 0 {
				if p, ok := inspect(pid); ok {
					f(p)
				}
			}
		}
	}
}

func name(e *syscall.Dirent) []byte {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&e.Name[0])), len(e.Name))
	for i, c := range b {
		if c == 0 {
			return b[:i]
		}
	}
	return b
}

// inspect reads /proc/PID/stat: "PID (NAME) STATE PPID GROUP SESSION ...",
// where NAME may hold anything, brackets and blanks included.
func inspect(pid int) (process, bool) {
	b := slurp("/proc/"+decimal(pid)+"/stat", stat[:])
	end := len(b)
	for end > 0 && b[end-1] != ')' {
		end--
	}
	tail := b[end:]
	if end == 0 || len(tail) < 3 {
		return process{}, false
	}
	p := process{pid: pid, state: tail[1]}
	p.parent, tail = field(tail[2:])
	p.group, tail = field(tail)
	p.session, _ = field(tail)
	return p, true
}

// field reads " N" off the front.
func field(b []byte) (int, []byte) {
	end := 1
	for end < len(b) && b[end] != ' ' {
		end++
	}
	return number(b[1:end]), b[end:]
}

// commandLine is the start of a process's arguments.
func commandLine(pid int) []byte { return slurp("/proc/"+decimal(pid)+"/cmdline", make([]byte, 4<<10)) }

// marked reports whether marker is an entry of the process's environment. What
// may not be read may not be killed either.
func marked(pid int, marker []byte) bool {
	b := slurp("/proc/"+decimal(pid)+"/environ", environment[:])
	for start := 0; start < len(b); {
		end := start
		for end < len(b) && b[end] != 0 {
			end++
		}
		if string(b[start:end]) == string(marker) {
			return true
		}
		start = end + 1
	}
	return false
}

// number is the value of decimal digits, -1 for anything else.
func number(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

func decimal(n int) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}
