package guard

import "syscall"

// Pipes connect a guard with its starter: two pipes, each with its reading end first. The guard
// has Orders[0] and Ready[1]. The starter's ends do not block, since a guard that does not read
// must not stop a renewal.
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

// Execute runs this program's own file, even if it was replaced on disk meanwhile, as a guard that
// holds keep open. The guard gets no other stream or descriptor of its starter. Its small runtime
// needs no garbage collection and one thread of Go code. The caller reaps it.
func (p Pipes) Execute(keep []uintptr) (pid int, err error) {
	const closed = ^uintptr(0)
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
