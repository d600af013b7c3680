package guard

import (
	"syscall"
	"unsafe"

	"redlockrun/internal/outset"
)

const (
	shell = "/bin/sh"

	// mostText exceeds the longest argument that the kernel allows (execve(2)).
	mostText = 1<<17 + 64
)

// A supervisor reports with these how a shell ended, or that there was none.
const (
	shellEnded   Kind = 'e' // Value is its wait status
	shellMissing Kind = 'm' // Value is the errno of execve(2)
)

// Supervise runs text by /bin/sh -c, in a session and process group of its own, with the three
// descriptors of streams and no other. pid is the leader of that group: not the shell but its
// supervisor, which this program becomes. The supervisor writes to Ready how the shell ended, a
// message for [ShellEnd]. Then it waits for SIGKILL to the group, the end of Orders (the death of
// its starter), or limit (ns). Each of these ends the whole group. The caller reaps pid; as PID 1
// the reaper of zombies may do that.
//
// The shell's parent is not a process that waits for any child, or lets the kernel reap them. So
// its status is not lost, not even as PID 1.
func (p Pipes) Supervise(text string, streams [3]uintptr, limit int64) (pid int, err error) {
	defer p.CloseGuards()
	files := append(streams[:], uintptr(p.Orders[0]), uintptr(p.Ready[1]))
	argv := []string{SupervisorName, decimal(int(limit / millisecond)), text}
	return syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Env: syscall.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// calledToSupervise reports whether this process must become a supervisor, with which limit and
// text.
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
	var usual signalAction // PID 1 may ignore it, and the shell would inherit that
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

// tellEnd waits for the shell, and reports its end.
func tellEnd(pid int) {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	_, _ = syscall.Write(Ready, Message{Kind: shellEnded, Value: int64(status)}.Encode())
}

// outlast returns when the orders have ended, or after limit.
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

// ShellEnd reads the report of a supervisor, Size bytes: how the shell ended, or why it could not
// be started.
func ShellEnd(message []byte) (syscall.WaitStatus, error) {
	m := decode(message)
	if m.Kind == shellMissing {
		return 0, syscall.Errno(m.Value)
	}
	return syscall.WaitStatus(m.Value), nil
}
