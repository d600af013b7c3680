package main

import "redlockrun/internal/runner"

// A pendingGuard is a guard that is being started.
type pendingGuard struct {
	started chan struct{} // closed when the fields below are set
	guard   *runner.Guard // nil for PID 1
	err     error
}

func startGuard() *pendingGuard {
	p := &pendingGuard{started: make(chan struct{})}
	go func() {
		defer close(p.started)
		p.guard, p.err = runner.StartGuard()
	}()
	return p
}

// wait returns why there is no guard, if there should be one.
func (p *pendingGuard) wait() error {
	<-p.started
	return p.err
}

// discard ends a guard that has nothing to guard.
func (p *pendingGuard) discard() {
	<-p.started
	p.guard.Close()
}
