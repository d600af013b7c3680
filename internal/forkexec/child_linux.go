package forkexec

import (
	"syscall"
	"unsafe"

	"redlockrun/internal/outset"
)

// A call holds all data of a child. Its parent prepares it, because the child may not allocate
// memory.
type call struct {
	Attr
	path      *byte
	argv, env []*byte
	by        syscall.Timespec
	failure   uintptr // the child writes to this pipe why it could not execute the file
	limit     outset.Limit
	restore   bool // the limit of descriptors
}

// vfork is syscall.rawVforkSyscall, which returns twice, to two processes that share one memory
// and one stack. It is called by assembler: a call by go:linkname would go through a wrapper,
// whose frame the child overwrites before the parent returns through it.
func vfork(trap, a1, a2, a3 uintptr) (r1 uintptr, err syscall.Errno)

// Functions that package syscall itself uses.
//
//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// Names that package syscall lacks.
const (
	clockBoottime  = 7
	dupCloseOnExec = 1030 // F_DUPFD_CLOEXEC
)

// forkAndExec forks. It returns in the parent, once the child has executed its file or ended.
//
//go:norace
func forkAndExec(c *call) (pid uintptr, errno syscall.Errno) {
	pid, errno = forkAndExecInChild(c)
	afterFork() // not in the frame that the child has used
	return pid, errno
}

// forkAndExecInChild returns to the parent at once, and to the child never. It follows
// syscall.forkAndExecInChild1, whose remarks hold here. It allocates no memory, calls nothing but
// assembler and functions that need no stack, and leaves the parent's frames alone.
//
//go:noinline
//go:norace
//go:nocheckptr
func forkAndExecInChild(c *call) (pid uintptr, errno syscall.Errno) {
	const flags = syscall.CLONE_VFORK | syscall.CLONE_VM | uintptr(syscall.SIGCHLD)
	var (
		self  uintptr
		fresh uintptr
		group int32
		i     int
		why   syscall.Errno
		now   syscall.Timespec
		set   uint64 // of signals
	)
	beforeFork() // blocks signals; no stack can grow any more
	pid, errno = vfork(syscall.SYS_CLONE, flags, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}

	if _, _, why = syscall.RawSyscall(syscall.SYS_SETPGID, 0, 0, 0); why != 0 {
		goto failed
	}
	self, _, _ = syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)

	// While signals are blocked: a closed reader brings SIGPIPE, which is taken back.
	if c.Announce != nil {
		for i = 0; i < 8; i++ {
			c.Announce[c.AnnounceAt+i] = byte(uint64(self) >> (8 * i))
		}
		_, _, why = syscall.RawSyscall(syscall.SYS_WRITE, c.AnnounceTo,
			uintptr(unsafe.Pointer(&c.Announce[0])), uintptr(len(c.Announce)))
		if why == syscall.EPIPE {
			set = 1 << (syscall.SIGPIPE - 1)
			syscall.RawSyscall6(syscall.SYS_RT_SIGTIMEDWAIT,
				uintptr(unsafe.Pointer(&set)), 0, uintptr(unsafe.Pointer(&now)), 8, 0, 0)
		}
	}

	// While SIGTTOU, which this brings in the background, is blocked.
	if c.Terminal {
		group = int32(self)
		_, _, why = syscall.RawSyscall(syscall.SYS_IOCTL,
			c.Files[0], syscall.TIOCSPGRP, uintptr(unsafe.Pointer(&group)))
		if why != 0 {
			goto failed
		}
	}
	afterForkInChild() // restores the mask of signals

	// Descriptors that would be overwritten move out of the way.
	if c.failure < 3 {
		if c.failure, _, why = syscall.RawSyscall(syscall.SYS_FCNTL, c.failure, dupCloseOnExec, 3); why != 0 {
			goto failed
		}
	}
	for i = 0; i < 3; i++ {
		if c.Files[i] < 3 && c.Files[i] != uintptr(i) {
			if fresh, _, why = syscall.RawSyscall(syscall.SYS_FCNTL, c.Files[i], dupCloseOnExec, 3); why != 0 {
				goto failed
			}
			c.Files[i] = fresh
		}
	}
	for i = 0; i < 3; i++ {
		if c.Files[i] == uintptr(i) {
			_, _, why = syscall.RawSyscall(syscall.SYS_FCNTL, c.Files[i], syscall.F_SETFD, 0)
		} else {
			_, _, why = syscall.RawSyscall(syscall.SYS_DUP3, c.Files[i], uintptr(i), 0)
		}
		if why != 0 {
			goto failed
		}
	}
	if c.restore {
		syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&c.limit)), 0, 0, 0)
	}

	// This comes last: from here to the command there is one system call.
	if c.by.Sec != 0 || c.by.Nsec != 0 {
		_, _, why = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0)
		if why != 0 {
			goto failed
		}
		if now.Sec > c.by.Sec || now.Sec == c.by.Sec && now.Nsec >= c.by.Nsec {
			why = late
			goto failed
		}
	}
	_, _, why = syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(c.path)),
		uintptr(unsafe.Pointer(&c.argv[0])), uintptr(unsafe.Pointer(&c.env[0])))

failed:
	syscall.RawSyscall(syscall.SYS_WRITE, c.failure, uintptr(unsafe.Pointer(&why)), unsafe.Sizeof(why))
	for {
		syscall.RawSyscall(syscall.SYS_EXIT, 253, 0, 0)
	}
}
