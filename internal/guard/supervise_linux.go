package guard

import (
	"syscall"
	"unsafe"

	"redlockrun/internal/outset"
)

const (
	shell = "/bin/sh"

	// mostText is more than an argument may be long (execve(2)).
	mostText = 1<<17 + 64
)

// How a shell has ended, or that there was none, as a supervisor tells it.
const (
	shellEnded   Kind = 'e' // Value is its wait status
	shellMissing Kind = 'm' // Value is the errno of execve(2)
)

// Supervise runs text by /bin/sh -c, in a session and process group of its own, with the three
// descriptors of streams and no other. pid is the leader of that group: not the shell but its
// supervisor, which this program becomes. It writes to Ready how the shell has ended, a message
// for [ShellEnd], and then waits: for SIGKILL to the group, for the end of Orders, which is
// the death of its starter, and for limit (ns). Each of these ends the whole group. Whoever
// calls Supervise reaps pid; as PID 1 the reaper of zombies may.
//
// The shell is no child of a process that waits for any child, or lets the kernel reap them:
// so its status is not lost, as PID 1 neither.
func (p Pipes) Supervise(text string, streams [3]uintptr, limit int64) (pid int, err error) {
	defer p.CloseGuards()
	files := append(streams[:], uintptr(p.Orders[0]), uintptr(p.Ready[1]))
	argv := []string{SupervisorName, decimal(int(limit / millisecond)), text}
	return syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Env: syscall.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// calledToSupervise reports whether this process is to be a supervisor, for how long and of what.
func calledToSupervise() (limit int64, text string, ok bool) {
	if !hasOrders() {
		return 0, "", false
	}
	name, _ := cut(readFile(0, "/cmdline", make([]byte, len(SupervisorName)+1)), 0)
	if string(name) != SupervisorName {
		return 0, "", false
	}
	_, argv := cut(readFile(0, "/cmdline", make([]byte, mostText)), 0)
	first, argv := cut(argv, 0)
	last, _ := cut(argv, 0)
	return int64(number(first)) * millisecond, string(last), true
}

// supervise is the whole life of a supervisor. It does not return.
func supervise(limit int64, text string) {
	outset.ReturnSignals()
	closeFrom(Ready + 1)
	title := append([]byte(SupervisorName), 0)
	syscall.RawSyscall(syscall.SYS_PRCTL, setName, uintptr(unsafe.Pointer(&title[0])), 0)
	var usual signalAction // PID 1 may ignore it, which the shell would inherit
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGCHLD), uintptr(unsafe.Pointer(&usual)), 0, 8, 0, 0)
	syscall.CloseOnExec(Orders)
	syscall.CloseOnExec(Ready)
	pid, err := syscall.ForkExec(shell, []string{shell, "-c", text},
		&syscall.ProcAttr{Env: syscall.Environ(), Files: []uintptr{0, 1, 2}})
	for fd := range 3 {
		syscall.Close(fd)
	}
	if errno, ok := err.(syscall.Errno); ok {
		_, _ = syscall.Write(Ready, Message{Kind: shellMissing, Value: int64(errno)}.Encode())
	} else {
		go tellEnd(pid)
	}
	outlast(limit)
	for {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
}

// tellEnd waits for the shell.
func tellEnd(pid int) {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	_, _ = syscall.Write(Ready, Message{Kind: shellEnded, Value: int64(status)}.Encode())
}

// outlast returns when the orders have come to their end, or after limit.
func outlast(limit int64) {
	orders := pollFd{fd: Orders, events: pollIn}
	for end := boottime() + limit; ; {
		left := syscall.NsecToTimespec(max(0, end-boottime()))
		n, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&orders)), 1,
			uintptr(unsafe.Pointer(&left)), 0, 0, 0)
		if e == 0 && (n > 0 || boottime() >= end) {
			return
		}
	}
}

// ShellEnd reads what a supervisor has written, Size bytes: how the shell has ended, or
// why it could not be started.
func ShellEnd(message []byte) (syscall.WaitStatus, error) {
	m := decode(message)
	if m.Kind == shellMissing {
		return 0, syscall.Errno(m.Value)
	}
	return syscall.WaitStatus(m.Value), nil
}
