package guard

import (
	"syscall"
	"unsafe"
)

// Names that package syscall lacks.
const (
	setName    = 15 // PR_SET_NAME
	lastSignal = 64
	closeRange = 436 // close_range(2), the same number on every architecture
)

// A signalAction is the kernel's struct sigaction (rt_sigaction(2)), with the length that the
// longest architecture needs.
type signalAction struct {
	handler uintptr
	rest    [4]uint64
}

// isolate detaches the guard from its surroundings. No descriptor from end on stays open (an
// inherited stdout would make $(...) wait). No signal that can be ignored ends the guard, and ps
// shows its name.
func isolate(end int) {
	ignored := signalAction{handler: 1} // SIG_IGN
	for sig := uintptr(1); sig <= lastSignal; sig++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&ignored)), 0, 8, 0, 0)
	}
	closeFrom(end)
	title := append([]byte(Name), 0)
	syscall.RawSyscall(syscall.SYS_PRCTL, setName, uintptr(unsafe.Pointer(&title[0])), 0)
}

// closeFrom closes every descriptor from first on. Before Linux 5.9 there is no close_range, and
// /proc lists the open ones.
func closeFrom(first int) {
	if _, _, e := syscall.RawSyscall(closeRange, uintptr(first), 1<<31-1, 0); e == 0 {
		return
	}
	dir, err := syscall.Open("/proc/self/fd", syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	eachEntry(dir, func(fd int) bool {
		if fd >= first && fd != dir {
			syscall.Close(fd)
		}
		return true
	})
	syscall.Close(dir)
}
