package guard

import (
	"syscall"
	"unsafe"
)

// What package syscall has no name for.
const (
	clockMonotonic = 1
	clockBoottime  = 7
	timerAbsolute  = 1 // TFD_TIMER_ABSTIME
	pollIn         = 1
	setName        = 15 // PR_SET_NAME
	lastSignal     = 64
	closeRange     = 436 // close_range(2), the same number on every architecture
)

type pollFd struct {
	fd              int32
	events, revents int16
}

// A signalAction is the kernel's struct sigaction (rt_sigaction(2)), as long as on the
// architecture with the longest one.
type signalAction struct {
	handler uintptr
	rest    [4]uint64
}

// seclude makes the guard independent of all that it was started in: no
// descriptor from end on stays open (an inherited stdout would make $(...)
// wait), no signal that can be ignored ends it, and ps shows its name.
func seclude(end int) {
	ignored := signalAction{handler: 1} // SIG_IGN
	for sig := uintptr(1); sig <= lastSignal; sig++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&ignored)), 0, 8, 0, 0)
	}
	closeFrom(end)
	title := append([]byte(Name), 0)
	syscall.RawSyscall(syscall.SYS_PRCTL, setName, uintptr(unsafe.Pointer(&title[0])), 0)
}

// closeFrom closes every descriptor from first on. Before Linux 5.9 there is
// no close_range, and /proc says what is open.
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

// newTimer is a timerfd on the clock that counts while the machine sleeps, or -1.
func newTimer() int {
	fd, _, e := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, clockBoottime, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if e != 0 {
		return -1
	}
	return int(fd)
}

// setTimer makes fd readable at the instant at, and unreadable until then; 0 is never.
func setTimer(fd int, at int64) {
	spec := [2]syscall.Timespec{1: syscall.NsecToTimespec(at)} // interval, value (timerfd_settime(2))
	syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(fd), timerAbsolute, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

// boottime is CLOCK_BOOTTIME in ns.
func boottime() int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

func sleep(ns int64) {
	ts := syscall.NsecToTimespec(ns)
	syscall.Nanosleep(&ts, nil)
}

// expire has the kernel end this process after ns, whatever it does then: SIGKILL by
// a timer (timer_create(2)).
func expire(ns int64) {
	event := struct { // struct sigevent
		value  uintptr
		signal int32
		notify int32 // SIGEV_SIGNAL
		_      [56]byte
	}{signal: int32(syscall.SIGKILL)}
	var timer int32
	_, _, e := syscall.RawSyscall(syscall.SYS_TIMER_CREATE, clockMonotonic, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&timer)))
	if e != 0 {
		return // whatever is done has an end of its own
	}
	spec := [2]syscall.Timespec{1: syscall.NsecToTimespec(ns)} // interval, value (timer_settime(2))
	syscall.RawSyscall6(syscall.SYS_TIMER_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}
