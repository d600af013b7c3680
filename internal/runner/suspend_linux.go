package runner

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Suspend stops this process as sig, a stop signal of the terminal, would have
// if it were not subscribed to, and returns when it has been continued; at once
// where the kernel does not stop a process (PID 1, an orphaned process group).
// SIGSTOP, which it does not spare them, is taken for SIGTSTP.
func Suspend(sig syscall.Signal) {
	if sig == unix.SIGSTOP {
		sig = unix.SIGTSTP
	}
	// The thread sends the signal to itself: so it is stopped before tgkill returns.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore := defaultAction(sig)
	defer restore()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
}

// A kernelAction is struct sigaction as rt_sigaction(2) takes it, with room
// for the longest. Zero is SIG_DFL without flags.
type kernelAction struct {
	handler uintptr
	rest    [4]uint64
}

// defaultAction gives sig its default action. signal.Reset would not: the
// runtime then keeps its handler and swallows a stop signal.
func defaultAction(sig syscall.Signal) (restore func()) {
	var zero, before kernelAction
	swapAction(sig, &zero, &before)
	if before.handler == ignored {
		swapAction(sig, &before, nil)
		return func() {}
	}
	return func() { swapAction(sig, &before, nil) }
}

const ignored = 1 // SIG_IGN

func swapAction(sig syscall.Signal, set, get *kernelAction) {
	const sigsetSize = 8
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), sigsetSize, 0, 0)
}
