package guard

import (
	"syscall"
	"unsafe"
)

// openFile opens a file of a process for reading. It returns -1 if that fails.
func openFile(pid int, name string) int {
	var buf [64]byte
	path := procPath(buf[:0], pid, name)
	fd, _, e := syscall.RawSyscall6(syscall.SYS_OPENAT, 0, uintptr(unsafe.Pointer(&path[0])),
		syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
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

// readFile reads as much as fits into buf, nothing if the file cannot be read.
func readFile(pid int, name string, buf []byte) []byte {
	fd := openFile(pid, name)
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

// readLink reads a symbolic link of a process into buf, nothing if it cannot be read.
func readLink(pid int, name string, buf []byte) []byte {
	var room [64]byte
	path := procPath(room[:0], pid, name)
	n, _, e := syscall.RawSyscall6(syscall.SYS_READLINKAT, 0,
		uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if e != 0 {
		return nil
	}
	return buf[:n]
}

// listed stands for a process: with it eachNumbered walks all processes that /proc lists.
const listed = -1

// eachNumbered calls f with the numbers in a directory of a process, until f returns false. All of
// its data is on the stack: a guard has no garbage collection, and walks may be nested.
func eachNumbered(name string, pid int, f func(int) bool) {
	var buf [64]byte
	path := append(buf[:0], "/proc\x00"...)
	if pid != listed {
		path = procPath(buf[:0], pid, name)
	}
	dir, _, e := syscall.RawSyscall6(syscall.SYS_OPENAT, 0, uintptr(unsafe.Pointer(&path[0])),
		syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0, 0, 0)
	if e != 0 {
		return
	}
	defer syscall.Close(int(dir))
	eachEntry(int(dir), f)
}

// eachEntry calls f with the names in an open directory that are numbers, until f returns false.
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

// eachNumber does that for the entries of one getdents(2), and reports whether to go on. It stops
// if f returns false, and at an invalid entry.
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
