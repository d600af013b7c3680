package guard

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Pipes are what ties a guard to its starter: two pipes, each with its end for
// reading first. The guard has Orders[0] and Ready[1]; the starter's ends do not
// block, since a guard that does not read must not stop a renewal.
type Pipes struct{ Orders, Ready [2]int }

// NewPipes makes the pipes of a guard. Execute closes the guard's ends of them.
func NewPipes() (p Pipes, err error) {
	if err := syscall.Pipe2(p.Orders[:], syscall.O_CLOEXEC); err != nil {
		return p, err
	}
	if err := syscall.Pipe2(p.Ready[:], syscall.O_CLOEXEC); err != nil {
		syscall.Close(p.Orders[0])
		syscall.Close(p.Orders[1])
		return p, err
	}
	_ = syscall.SetNonblock(p.Orders[1], true)
	_ = syscall.SetNonblock(p.Ready[0], true)
	return p, nil
}

// CloseStarters closes the starter's ends.
func (p Pipes) CloseStarters() {
	syscall.Close(p.Orders[1])
	syscall.Close(p.Ready[0])
}

// CloseGuards closes the guard's ends, if no guard is executed.
func (p Pipes) CloseGuards() {
	syscall.Close(p.Orders[0])
	syscall.Close(p.Ready[1])
}

// Execute runs this program's own file, which may have been replaced on disk
// meanwhile, as a guard that holds keep open. Of its starter's streams and
// descriptors the guard gets no other, and its small runtime needs no garbage
// collection and one thread of Go code. Whoever executes it reaps it.
//
// It is a batch process to the scheduler (sched(7)): when it wakes up, because it
// is told something or killed, it does not take the processor from its starter.
// Measured, that is an eighth of a hand-over. And its pauses may be long: the
// runtime's monitor would look every 20 us after a thread that sleeps.
func (p Pipes) Execute(keep []uintptr) (pid int, err error) {
	const closed = ^uintptr(0)
	defer forkAsBatch()()
	defer p.CloseGuards()
	files := []uintptr{closed, closed, closed, uintptr(p.Orders[0]), uintptr(p.Ready[1])}
	argv := []string{Name, decimal(len(keep)), decimal(syscall.Getpid()), decimal(p.Orders[1])}
	return syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOMAXPROCS=1", "GOGC=off"},
		Files: append(files, keep...),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}

// forkAsBatch makes what this goroutine forks a batch process with long pauses, until
// the function that it returns is called. Whoever runs under another policy than the
// ordinary one wanted that.
func forkAsBatch() (end func()) {
	const ordinary, batch = 0, 3
	runtime.LockOSThread()
	setSlack(timerSlack)
	policy, _, e := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
	change := e == 0 && policy == ordinary
	if change {
		setPolicy(batch)
	}
	return func() {
		if change {
			setPolicy(ordinary)
		}
		setSlack(0)
		runtime.UnlockOSThread()
	}
}

// timerSlack is by how much a guard's pauses may be longer than it wants. Its timer
// keeps the time (timerfd_create(2)), and so does waiting for orders.
const timerSlack = 10 * millisecond

// setSlack sets the timer slack of this thread and of what it forks, in
// nanoseconds; 0 is what it began with (PR_SET_TIMERSLACK).
func setSlack(ns int64) {
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, uintptr(ns), 0)
}

func setPolicy(policy uintptr) {
	var priority int32 // struct sched_param
	syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, policy, uintptr(unsafe.Pointer(&priority)))
}
