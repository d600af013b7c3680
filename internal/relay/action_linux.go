package relay

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Action is what is done with a signal: struct sigaction as rt_sigaction(2) takes
// it, with room for the longest. Zero is the default action.
type Action struct {
	handler uintptr
	rest    [4]uint64
}

const ignore = 1 // SIG_IGN

// Ignore is the action of a signal that is ignored.
func Ignore() Action { return Action{handler: ignore} }

// SetAction sets the action of sig, unless set is nil, and gets the one before, unless get is nil.
func SetAction(sig syscall.Signal, set, get *Action) {
	const sigsetSize = 8
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), sigsetSize, 0, 0)
}

func actionOf(sig syscall.Signal) (now Action) {
	SetAction(sig, nil, &now)
	return now
}

// Ignored reports whether sig is ignored.
func Ignored(sig syscall.Signal) bool { return actionOf(sig).handler == ignore }

// UseDefault gives sig its default action, unless it is ignored, until restore is called.
// signal.Reset would not: the runtime then keeps its handler and swallows a stop signal.
func UseDefault(sig syscall.Signal) (restore func()) {
	if Ignored(sig) {
		return func() {}
	}
	var before Action
	SetAction(sig, &Action{}, &before)
	return func() { SetAction(sig, &before, nil) }
}
