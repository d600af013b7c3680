package redistest

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

type start struct {
	cmd *exec.Cmd
	err chan error
}

// starter is a thread that lives as long as this process: PR_SET_PDEATHSIG
// counts from the end of the thread that forked (prctl(2)).
var starter = sync.OnceValue(func() chan<- start {
	starts := make(chan start)
	go func() {
		runtime.LockOSThread()
		for s := range starts {
			s.err <- s.cmd.Start()
		}
	}()
	return starts
})

// startBound starts a process that dies with this one, so that a test that is
// killed leaves no server behind.
func startBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	s := start{cmd, make(chan error)}
	starter() <- s
	return <-s.err
}
