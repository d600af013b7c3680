package runner

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A child is the command as its parent sees it: the leader of its process group.
type child struct {
	pid    int
	events chan event // stops and continuations, at last the end; then nothing more comes
}

// Values of si_code for a child (sigaction(2)).
const (
	cldExited    = 1
	cldKilled    = 2
	cldDumped    = 3
	cldStopped   = 5
	cldContinued = 6
)

// An event is a change of a child that waitid(2) reports.
type event struct {
	code   int32 // cldExited and so on
	status int   // the exit status, or the signal
}

func (e event) ended() bool {
	return e.code == cldExited || e.code == cldKilled || e.code == cldDumped
}

// watchChild begins to wait for a child that has been started. It does not reap it.
func watchChild(pid int) *child {
	c := &child{pid: pid, events: make(chan event, 1)}
	go c.watch()
	return c
}

func (c *child) watch() {
	for {
		e := awaitChange(c.pid)
		c.events <- e
		if e.ended() {
			return
		}
	}
}

// awaitEnd waits for the child's end, and skips earlier events.
func (c *child) awaitEnd() event {
	for {
		if e := <-c.events; e.ended() {
			return e
		}
	}
}

// awaitChange blocks until the child has changed. It leaves an end in the kernel. As PID 1 it
// reaps other processes on the way.
func awaitChange(pid int) event {
	kind, id := unix.P_PID, pid
	if os.Getpid() == 1 {
		kind, id = unix.P_ALL, 0
	}
	for {
		info, err := waitid(kind, id, unix.WEXITED|unix.WSTOPPED|unix.WCONTINUED|unix.WNOWAIT|unix.WALL)
		if err != nil {
			panic("waitid: " + err.Error()) // ours until we reap it: there is no other error than EINTR
		}
		e := event{code: info.Code, status: int(info.Status)}
		if int(info.PID) == pid && e.ended() {
			return e
		}
		if int(info.PID) != pid {
			discard(int(info.PID))
		} else if e, ok := takeChange(pid); ok {
			return e
		}
	}
}

// discard takes any event of a process that PID 1 has adopted, its end too.
func discard(pid int) {
	_, _ = waitid(unix.P_PID, pid, unix.WEXITED|unix.WSTOPPED|unix.WCONTINUED|unix.WNOHANG|unix.WALL)
}

// takeChange takes a stop or a continuation out of the kernel, so that the next call finds the
// event after it.
func takeChange(pid int) (event, bool) {
	info, err := waitid(unix.P_PID, pid, unix.WSTOPPED|unix.WCONTINUED|unix.WNOHANG)
	return event{code: info.Code, status: int(info.Status)}, err == nil && int(info.PID) == pid
}

// ended reports whether the child has ended. It neither waits nor reaps.
func (c *child) ended() bool {
	info, err := waitid(unix.P_PID, c.pid, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT)
	return err == nil && int(info.PID) == c.pid
}

// A waitInfo is the part of siginfo_t that waitid(2) fills in: the union of siginfo_t starts at
// the alignment of a pointer.
type waitInfo struct {
	Signo, Errno, Code int32
	_                  [0]uintptr
	PID                int32
	UID                uint32
	Status             int32
	_                  [104]byte
}

func waitid(kind, id, options int) (waitInfo, error) {
	for {
		var info waitInfo
		err := unix.Waitid(kind, id, (*unix.Siginfo)(unsafe.Pointer(&info)), options, nil)
		if err != unix.EINTR {
			return info, err
		}
	}
}

var _ [unsafe.Sizeof(waitInfo{}) - unsafe.Sizeof(unix.Siginfo{})]struct{} // the kernel writes a whole one
