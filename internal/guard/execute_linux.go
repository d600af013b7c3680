package guard

import "syscall"

// A Leash is what ties a guard to its starter: two pipes, each with its end for
// reading first. The guard has Orders[0] and Ready[1]; the starter's ends do not
// block, since a guard that does not read must not stop a renewal.
type Leash struct{ Orders, Ready [2]int }

// NewLeash makes the pipes of a guard. Execute closes the guard's ends of them.
func NewLeash() (l Leash, err error) {
	if err := syscall.Pipe2(l.Orders[:], syscall.O_CLOEXEC); err != nil {
		return l, err
	}
	if err := syscall.Pipe2(l.Ready[:], syscall.O_CLOEXEC); err != nil {
		syscall.Close(l.Orders[0])
		syscall.Close(l.Orders[1])
		return l, err
	}
	_ = syscall.SetNonblock(l.Orders[1], true)
	_ = syscall.SetNonblock(l.Ready[0], true)
	return l, nil
}

// Let closes the starter's ends.
func (l Leash) Let() {
	syscall.Close(l.Orders[1])
	syscall.Close(l.Ready[0])
}

// Execute runs this program's own file, which may have been replaced on disk
// meanwhile, as a guard that holds keep open. Of its starter's streams and
// descriptors the guard gets no other, and its small runtime needs no garbage
// collection and one thread of Go code. Whoever executes it reaps it.
func (l Leash) Execute(keep []uintptr) (pid int, err error) {
	const closed = ^uintptr(0)
	defer syscall.Close(l.Orders[0])
	defer syscall.Close(l.Ready[1])
	files := []uintptr{closed, closed, closed, uintptr(l.Orders[0]), uintptr(l.Ready[1])}
	return syscall.ForkExec("/proc/self/exe", []string{Name, decimal(len(keep)), decimal(syscall.Getpid())}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOMAXPROCS=1", "GOGC=off"},
		Files: append(files, keep...),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}
