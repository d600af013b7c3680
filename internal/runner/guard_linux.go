package runner

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

const (
	readyLimit = 10 * time.Second // for a guard to get ready
	actingNear = time.Second      // how close a deadline is when a guard may already act on it
)

// A Guard is the tiny process that outlives this one for an instant. It kills the command's group
// when this process has exited or stands still. A guard that is itself killed is replaced. The nil
// Guard does nothing. As PID 1 there is none: the kernel kills all processes that PID 1 leaves.
// Only a PID 1 that was frozen from outside its namespace would need one.
type Guard struct {
	keep []*os.File

	mu       sync.Mutex
	pid      int // 0: there is none at the moment
	orders   int // descriptor of the pipe to it
	closing  bool
	deadline guard.Message // the last order of each kind, for a successor
	group    guard.Message
	parking  guard.Message
	expired  bool // the deadline is over and does not move any more
	warn     func(error)

	started  chan struct{} // closed when the first guard has been executed, or cannot be
	startErr error         // why not; read after started
	ready    chan struct{} // closed when the first guard is on watch
	ended    chan struct{} // closed when there is no guard any more and none will come
	endErr   error         // why the first guard did not get ready; read after ended
	quit     chan struct{} // closed when the guard is told to end
}

// StartGuard executes this program again as a guard. It returns at once, so that the lock can be
// acquired meanwhile. Started reports whether it worked, Run waits until the guard is ready, and
// the caller of StartGuard calls Close. The guard holds keep open until it ends; if one of these
// files is closed before Started returns, there may be no guard. As PID 1 StartGuard returns nil.
func StartGuard(keep ...*os.File) *Guard {
	g := newGuard(keep)
	if g != nil {
		go func() { g.run(g.executeAlongside()) }()
	}
	return g
}

// StartGuardAtOnce is StartGuard for a process that does nothing else yet. It returns when the
// guard is executed, and nothing else goes on until then. It spares the second processor of Go
// code that StartGuard adds.
func StartGuardAtOnce() *Guard {
	g := newGuard(nil)
	if g != nil {
		ready, err := g.execute()
		go g.run(ready, err)
	}
	return g
}

func newGuard(keep []*os.File) *Guard {
	if os.Getpid() == 1 {
		return nil
	}
	return &Guard{
		keep: keep, started: make(chan struct{}), ready: make(chan struct{}),
		ended: make(chan struct{}), quit: make(chan struct{}),
	}
}

// Started waits until the guard has been executed, and returns the error if it could not be.
func (g *Guard) Started() error {
	if g == nil {
		return nil
	}
	<-g.started
	return g.startErr
}

// awaitReady blocks until the guard is ready, or ctx ends, which the caller checks.
func (g *Guard) awaitReady(ctx context.Context) error {
	if g == nil {
		return nil
	}
	late := time.NewTimer(readyLimit)
	defer late.Stop()
	select {
	case <-g.ready:
		return nil
	case <-g.ended:
		return g.endErr
	case <-ctx.Done():
		return nil
	case <-late.C:
		return errors.New("guard is not ready after 10 s")
	}
}

// disarm ends the guard before the command's leader is reaped: from then on the group's number may
// belong to other processes. Only a guard with a close deadline can be in the middle of its work;
// then disarm waits for its end.
func (g *Guard) disarm() {
	if g == nil {
		return
	}
	g.mu.Lock()
	at := g.deadline.Value
	g.end()
	g.mu.Unlock()
	if at != 0 && boottime.Ticks(boottime.Now()) > at-actingNear.Nanoseconds() {
		g.Close()
	}
}

// end kills the guard, once. g.mu is held.
func (g *Guard) end() {
	if g.closing {
		return
	}
	g.closing = true
	close(g.quit)
	if g.pid != 0 {
		_ = unix.Kill(g.pid, unix.SIGKILL)
	}
}

// Close disarms the guard, if Run has not, waits for its end and reaps it. The caller of
// StartGuard calls Close before the process ends. It may be called again.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.end()
	g.mu.Unlock()
	<-g.ended
}

func (g *Guard) isClosing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closing
}

// warnTo makes warn receive the events of the guard.
func (g *Guard) warnTo(warn func(error)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.warn = warn
}

func (g *Guard) report(err error) {
	g.mu.Lock()
	warn := g.warn
	g.mu.Unlock()
	if warn != nil {
		warn(err)
	}
}
