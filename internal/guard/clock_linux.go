package guard

import (
	"syscall"
	"unsafe"
)

// Names that package syscall lacks.
const (
	clockMonotonic = 1
	clockBoottime  = 7
	timerAbsolute  = 1 // TFD_TIMER_ABSTIME

	millisecond = int64(1_000_000)
	second      = 1000 * millisecond
)

// newTimer returns a timerfd on the clock that counts while the machine sleeps, or -1.
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
	syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(fd), timerAbsolute,
		uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

// boottime returns CLOCK_BOOTTIME in ns.
func boottime() int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

func sleep(ns int64) {
	ts := syscall.NsecToTimespec(ns)
	syscall.Nanosleep(&ts, nil)
}

// killSelfAfter makes the kernel end this process after ns, in any state: a timer sends SIGKILL
// (timer_create(2)).
func killSelfAfter(ns int64) {
	event := struct { // struct sigevent
		value  uintptr
		signal int32
		notify int32 // SIGEV_SIGNAL
		_      [56]byte
	}{signal: int32(syscall.SIGKILL)}
	var timer int32
	_, _, e := syscall.RawSyscall(syscall.SYS_TIMER_CREATE, clockMonotonic,
		uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&timer)))
	if e != 0 {
		return // the guard's other limits remain
	}
	spec := [2]syscall.Timespec{1: syscall.NsecToTimespec(ns)} // interval, value (timer_settime(2))
	syscall.RawSyscall6(syscall.SYS_TIMER_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}
