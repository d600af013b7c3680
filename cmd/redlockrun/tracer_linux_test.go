package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"redlockrun/internal/guard"
	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// A tracer runs redlockrun step by step (ptrace(2)), with everything that it forks. All of its
// methods belong to the goroutine that has made it, which keeps its thread until the end.
type tracer struct {
	t      testing.TB
	run    int                 // the process redlockrun
	guard  int                 // its guard, which is traced no more once it is one; 0: not yet
	known  map[int]bool        // threads and processes that are traced; true: their first stop has come
	thread map[int]bool        // those that are threads of redlockrun; the command is not
	held   map[int]unix.Signal // stopped threads, and the signal that each gets
	status unix.WaitStatus     // of redlockrun
	over   bool                // it has ended
	ran    bool                // the command has been executed
	freed  bool                // nothing is stopped at system calls any more
	frozen func(id int) bool   // which of them stand still from now on, one after the other as they stop; nil: none
}

// trace starts redlockrun, which stands still before its first instruction.
func trace(t testing.TB, url string, args ...string) *tracer {
	t.Helper()
	return traceTo(t, url, nil, args...)
}

// traceTo is trace with a file for stderr.
func traceTo(t testing.TB, url string, stderr *os.File, args ...string) *tracer {
	t.Helper()
	runtime.LockOSThread()
	cmd := exec.Command(binary(t), args...)
	cmd.Env = append(os.Environ(), "REDLOCKRUN_CONFIG=/dev/null", "REDLOCKRUN_REDIS="+url)
	if stderr != nil {
		cmd.Stderr = stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &tracer{t: t, run: cmd.Process.Pid}
	r.known, r.thread, r.held = make(map[int]bool), make(map[int]bool), make(map[int]unix.Signal)
	r.known[r.run], r.thread[r.run] = true, true
	var status unix.WaitStatus
	if _, err := unix.Wait4(r.run, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		t.Fatalf("wait for redlockrun: %v, %x", err, status)
	}
	const exitKill = 0x100000 // PTRACE_O_EXITKILL
	options := unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
		unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | exitKill
	if err := unix.PtraceSetOptions(r.run, options); err != nil {
		t.Fatal(err)
	}
	r.goOn(r.run, 0)
	t.Cleanup(r.end)
	return r
}

// end kills what is left and gives the thread back.
func (r *tracer) end() {
	_ = unix.Kill(r.run, unix.SIGKILL)
	r.free()
	runtime.UnlockOSThread()
}

// goOn lets one of them go on to its next system call.
func (r *tracer) goOn(id int, sig unix.Signal) {
	request := unix.PTRACE_SYSCALL
	if r.freed {
		request = unix.PTRACE_CONT
	}
	r.ptrace(request, id, uintptr(sig)) // an error: it has been killed
}

func (r *tracer) ptrace(request, id int, data uintptr) {
	_, _, _ = unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(id), 0, data, 0, 0)
}

// A stop is that one of them has come to a system call, or to its end.
type stop struct {
	id   int
	info syscallInfo
}

// entry is op of a system call that begins.
const entry = 1

// A syscallInfo is struct ptrace_syscall_info of Linux 5.3, as much as is needed of it.
type syscallInfo struct {
	op     byte // 1: entry, 2: exit
	_      [23]byte
	number uint64
	args   [6]uint64
	_      [24]byte
}

// next waits for the next stop at a system call, which is left standing; ok is false if
// another thing has come, or nothing and it is not to wait.
func (r *tracer) next(wait bool) (s stop, ok bool) {
	const ownOnly = 0x20000000 // __WNOTHREAD: those that this thread traces or has forked
	// With __WCLONE alone, wait4(2) leaves alone what sends SIGCHLD and is not traced: the children of other
	// tests that this thread happened to fork.
	flags := uint32(unix.WCLONE | ownOnly) // an int of 32 bits would be negative
	options := int(int32(flags))
	if !wait {
		options |= unix.WNOHANG
	}
	var status unix.WaitStatus
	id, err := unix.Wait4(-1, &status, options, nil)
	switch {
	case err == unix.ECHILD:
		r.over = true
		return s, false
	case err != nil || id <= 0:
		return s, false
	case status.Exited() || status.Signaled():
		r.gone(id, status)
		return s, false
	case status.StopSignal() == unix.SIGTRAP|0x80:
		return stop{id, r.syscall(id)}, true
	}
	r.pass(id, status)
	return s, false
}

// resolveStops deals with all that have stopped by now.
func (r *tracer) resolveStops() {
	for stopped := true; stopped && !r.over; {
		var s stop
		if s, stopped = r.next(false); stopped {
			r.resolveStop(s.id, 0)
		}
	}
}

// pass deals with a stop that is none at a system call.
func (r *tracer) pass(id int, status unix.WaitStatus) {
	sig := status.StopSignal()
	switch cause := status.TrapCause(); {
	case sig == unix.SIGTRAP && cause == unix.PTRACE_EVENT_CLONE:
		if child, err := unix.PtraceGetEventMsg(id); err == nil {
			r.thread[int(child)] = true
		}
		sig = 0
	case sig == unix.SIGTRAP && cause == unix.PTRACE_EVENT_EXEC && id != r.run:
		if r.guard == 0 {
			r.guard = id
		} else {
			r.ran = true
		}
		r.ptrace(unix.PTRACE_DETACH, id, 0)
		return
	case sig == unix.SIGTRAP:
		sig = 0
	case sig == unix.SIGSTOP && !r.known[id]:
		sig = 0
	}
	r.known[id] = true
	r.resolveStop(id, sig)
}

// resolveStop continues one thread, unless it must stand still.
func (r *tracer) resolveStop(id int, sig unix.Signal) {
	if !r.freed && r.frozen != nil && r.frozen(id) {
		r.held[id] = sig
		return
	}
	r.goOn(id, sig)
}

// walk lets one thread execute some more instructions, up to a long one: a system call that waits.
func (r *tracer) walk(id, instructions int) {
	const long = 20 * time.Millisecond
	for range instructions {
		r.ptrace(unix.PTRACE_SINGLESTEP, id, 0)
		var status unix.WaitStatus
		got := 0
		for began := time.Now(); got == 0 && time.Since(began) < long; { // it is too short to sleep meanwhile
			got, _ = unix.Wait4(id, &status, unix.WALL|unix.WNOHANG, nil)
		}
		switch {
		case got != id:
			return // it stops when it comes back
		case !status.Stopped():
			r.gone(id, status)
			return
		case status.StopSignal() != unix.SIGTRAP || status.TrapCause() > 0:
			r.pass(id, status)
			return
		}
	}
	r.resolveStop(id, 0)
}

// gone notes the end of one of them.
func (r *tracer) gone(id int, status unix.WaitStatus) {
	delete(r.held, id)
	if id == r.run {
		r.over, r.status = true, status
	}
}

func (r *tracer) syscall(id int) (info syscallInfo) {
	const getSyscallInfo = 0x420e
	_, _, e := unix.Syscall6(unix.SYS_PTRACE,
		getSyscallInfo, uintptr(id), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if e != 0 {
		return syscallInfo{}
	}
	return info
}

// free lets all of them go on without another stop, and waits for redlockrun's end.
func (r *tracer) free() {
	r.freed = true
	for id, sig := range r.held {
		r.goOn(id, sig)
	}
	clear(r.held)
	for !r.over {
		if s, ok := r.next(true); ok {
			r.goOn(s.id, 0)
		}
	}
}

// tells reports that redlockrun is about to tell its guard something.
func (r *tracer) tells(what guard.Kind, s stop) bool {
	if s.info.op != entry || s.info.number != unix.SYS_WRITE || s.info.args[2] != guard.Size {
		return false
	}
	var first [8]byte
	_, err := unix.PtracePeekData(s.id, uintptr(s.info.args[1]), first[:])
	return err == nil && guard.Kind(first[0]) == what
}

// The thread of a tracer forks the children of other tests, too: they belong to those.
func TestATracerLeavesTheChildrenOfOtherTests(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	r := trace(t, s.URL(), "-k", "job", "true")
	cmd := exec.Command("true") // this thread forks it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the other child has ended", func() bool { return stateOf(cmd.Process.Pid) == 'Z' })
	for !r.over {
		if s, ok := r.next(true); ok {
			r.goOn(s.id, 0)
		}
	}
	if err := cmd.Wait(); err != nil || r.status.ExitStatus() != 0 {
		t.Errorf("the other child: %v; redlockrun: status %x", err, r.status)
	}
}
