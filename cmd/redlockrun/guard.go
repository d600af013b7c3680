package main

import (
	"os"

	"redlockrun/internal/runner"
)

// A pendingGuard is a guard that is being started.
type pendingGuard struct {
	started chan struct{} // closed when the fields below are set
	guard   *runner.Guard // nil for PID 1
	err     error
}

// startGuard starts a guard that holds keep open.
func startGuard(keep []*os.File) *pendingGuard {
	p := &pendingGuard{started: make(chan struct{})}
	go func() {
		defer close(p.started)
		p.guard, p.err = runner.StartGuard(keep...)
	}()
	return p
}

// wait returns why there is no guard, if there should be one.
func (p *pendingGuard) wait() error {
	<-p.started
	return p.err
}

// end waits for the guard to be gone. One that has been told so by the runner is
// on its way.
func (p *pendingGuard) end() {
	<-p.started
	p.guard.Close()
}
