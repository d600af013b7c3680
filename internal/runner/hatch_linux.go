package runner

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// hatching is how long a new guard waits before it executes this program
// again. Most of what that costs, the start of a Go runtime, is not worth it
// for a command that has ended by then: measured, 1.2 ms of processor time per run.
const hatching = 250 * time.Millisecond

// An egg is all that a guard needs until it is executed, prepared beforehand: in
// a forked child nothing may be allocated, and no stack may grow.
type egg struct {
	files []int // what are to be descriptors guard.Orders and so on; each is beyond all of these
	self  *byte
	root  *byte
	argv  []*byte
	env   []*byte
	wait  unix.Timespec
	hello [1]byte
	title []byte // what ps shows of the child, and where that is kept
	args  []byte
	poll  [1]unix.PollFd
}

// lay starts a guard by fork alone. It is on watch at once, for the end of this
// process. When that or wait is over it executes this program's own file, which
// may have been replaced on disk meanwhile, and reads its orders. Its small
// runtime needs no garbage collection and one thread of Go code. Of this
// process's streams and descriptors it has none.
func lay(files []int, wait time.Duration) (pid int, err error) {
	e := egg{
		wait:  unix.NsecToTimespec(wait.Nanoseconds()),
		hello: [1]byte{'!'},
		poll:  [1]unix.PollFd{{Fd: guard.Orders}}, // no events: only the end of it
	}
	e.title, e.args = append([]byte(guard.Name), 0), arguments()
	e.self, _ = unix.BytePtrFromString("/proc/self/exe")
	e.root, _ = unix.BytePtrFromString("/")
	if e.argv, err = syscall.SlicePtrFromStrings([]string{guard.Name, strconv.Itoa(len(files) - 2), strconv.Itoa(os.Getpid())}); err != nil {
		return 0, err
	}
	if e.env, err = syscall.SlicePtrFromStrings([]string{"GOMAXPROCS=1", "GOGC=off"}); err != nil {
		return 0, err
	}
	if unix.CloseRange(1<<30, 1<<30, 0) != nil { // before Linux 5.9 only the execution closes what is not a guard's
		e.wait = unix.Timespec{}
	}
	defer e.closeFiles()
	for _, fd := range files {
		up, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, guard.Orders+len(files))
		if err != nil {
			return 0, err
		}
		e.files = append(e.files, up)
	}
	return e.fork()
}

func (e *egg) closeFiles() {
	for _, fd := range e.files {
		unix.Close(fd)
	}
}

// fork makes the child while no signal can reach this thread: a handler of the
// runtime must not run in a child that has no runtime.
func (e *egg) fork() (int, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return 0, err
	}
	pid, errno := e.split()
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	if errno != 0 {
		return 0, errno
	}
	return int(pid), nil
}

// split is the fork, and the whole life of the child. What it calls are system
// calls without any help of the runtime.
//
//go:norace
//go:nosplit
func (e *egg) split() (pid uintptr, err syscall.Errno) {
	pid, _, err = syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if pid != 0 || err != 0 {
		return pid, err
	}
	syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(unsafe.Pointer(e.root)), 0, 0)
	for i := range e.args {
		e.args[i] = 0
		if i < len(e.title) {
			e.args[i] = e.title[i]
		}
	}
	syscall.RawSyscall(syscall.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(&e.title[0])), 0)
	for i := range e.files {
		syscall.RawSyscall(syscall.SYS_DUP3, uintptr(e.files[i]), uintptr(guard.Orders+i), 0)
	}
	for fd := range uintptr(guard.Orders) {
		syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	}
	syscall.RawSyscall(unix.SYS_CLOSE_RANGE, uintptr(guard.Orders+len(e.files)), 1<<31-1, 0)
	syscall.RawSyscall(syscall.SYS_WRITE, guard.Ready, uintptr(unsafe.Pointer(&e.hello)), 1)
	syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&e.poll)), 1, uintptr(unsafe.Pointer(&e.wait)), 0, 0, 0)
	syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(e.self)), uintptr(unsafe.Pointer(&e.argv[0])), uintptr(unsafe.Pointer(&e.env[0])))
	for {
		syscall.RawSyscall(syscall.SYS_EXIT, 71, 0, 0)
	}
}

// arguments is the memory that /proc/self/cmdline shows, nil if it cannot be told:
// the arguments of the program one after the other, and the environment behind them.
func arguments() []byte {
	next := unsafe.StringData(os.Args[0])
	start := next
	for _, arg := range os.Args {
		if unsafe.StringData(arg) != next {
			return nil
		}
		next = (*byte)(unsafe.Add(unsafe.Pointer(next), len(arg)+1))
	}
	if env := syscall.Environ(); len(env) == 0 || unsafe.StringData(env[0]) != next {
		return nil
	}
	return unsafe.Slice(start, uintptr(unsafe.Pointer(next))-uintptr(unsafe.Pointer(start)))
}
