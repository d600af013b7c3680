// Package forkexec starts a command as syscall.ForkExec does, and adds two steps between fork and
// execve: the child announces itself, and it checks the clock.
//
// So it does not matter where, and for how long, the parent or the child stands still. A child
// that comes too late to the check of the clock executes nothing. The reader of the announcement
// knows the child before it can execute anything.
package forkexec

import (
	"errors"
	"runtime"
	"syscall"
	"unsafe"

	"redlockrun/internal/outset"
)

// An Attr says how a command is started. It leads a process group of its own.
type Attr struct {
	Env   []string
	Files [3]uintptr // its descriptors 0, 1 and 2; it gets no other

	// Terminal makes its group the foreground group of the terminal Files[0].
	Terminal bool

	// By is the instant (CLOCK_BOOTTIME, ns) from which on nothing is executed; 0: there is none.
	By int64

	// Announce, if not nil, is written to AnnounceTo before, with the child's process id
	// in the eight bytes from AnnounceAt on, the least significant one first.
	Announce   []byte
	AnnounceAt int
	AnnounceTo uintptr
}

// ErrLate says that the instant By had come, and that therefore nothing was executed.
var ErrLate = errors.New("the time to start it is over")

// late is the child's report of that: a number that no errno has.
const late syscall.Errno = 1 << 16

// Start executes a file. If that fails and pid is not 0, the process pid was forked and ends, and
// the caller must reap it.
func Start(path string, argv []string, a *Attr) (pid int, err error) {
	c := call{Attr: *a, limit: outset.Descriptors, restore: outset.DescriptorsRaised()}
	if c.path, err = syscall.BytePtrFromString(path); err != nil {
		return 0, err
	}
	if c.argv, err = syscall.SlicePtrFromStrings(argv); err != nil {
		return 0, err
	}
	if c.env, err = syscall.SlicePtrFromStrings(a.Env); err != nil {
		return 0, err
	}
	c.by = syscall.NsecToTimespec(a.By)
	var ends [2]int
	if err = syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return 0, err
	}
	defer syscall.Close(ends[0])
	c.failure = uintptr(ends[1])
	child, errno := forkAndExec(&c)
	runtime.KeepAlive(&c)
	syscall.Close(ends[1])
	if errno != 0 {
		return 0, errno
	}
	return int(child), failureOf(ends[0])
}

// failureOf reads the report of a child. A child that has executed its file sends none.
func failureOf(pipe int) error {
	var said [unsafe.Sizeof(late)]byte
	for {
		n, err := syscall.Read(pipe, said[:])
		switch errno := *(*syscall.Errno)(unsafe.Pointer(&said)); {
		case err == syscall.EINTR:
		case err != nil:
			return err
		case n == 0:
			return nil
		case n < len(said):
			return syscall.EPIPE
		case errno == late:
			return ErrLate
		default:
			return errno
		}
	}
}
