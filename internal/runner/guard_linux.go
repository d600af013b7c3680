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
	patience = 10 * time.Second // for a guard to get ready
	mourning = time.Second      // between two tries to start another one
	near     = time.Second      // the distance of a deadline that a guard may be acting on
)

// A Guard is the tiny process that outlives this one for an instant: it kills
// the command's group when this process is gone or stands still. A guard that is
// itself killed is replaced. The nil Guard does nothing: as PID 1 there is no
// need of one, since the kernel kills whatever PID 1 leaves.
type Guard struct {
	keep []*os.File

	mu       sync.Mutex
	pid      int
	orders   int // descriptor of the pipe to the guard
	closing  bool
	deadline guard.Message // the last order of each kind, for a successor
	group    guard.Message
	parked   bool
	struck   bool // the deadline is over and does not move any more
	warn     func(error)

	started  chan struct{} // closed when the first guard has been executed, or cannot be
	startErr error         // why not; read after started
	ready    chan struct{} // closed when the first guard is on watch
	over     chan struct{} // closed when there is no guard any more and none will come
	err      error         // why the first guard did not get ready; read after over
	quit     chan struct{} // closed by Close
}

// StartGuard executes this program again as a guard, or takes the one that was
// executed while the program was initialized. It returns at once, so that the lock can
// be asked for meanwhile: Started says whether it worked, Run waits until the guard is
// on watch, and whoever has called StartGuard calls Close. The guard holds keep open
// until it ends; a file may be closed here as soon as Started has returned, and before
// at the price of the guard. As PID 1 StartGuard returns nil.
func StartGuard(keep ...*os.File) *Guard {
	if os.Getpid() == 1 {
		return nil
	}
	g := &Guard{
		keep: keep, started: make(chan struct{}), ready: make(chan struct{}),
		over: make(chan struct{}), quit: make(chan struct{}),
	}
	go g.run()
	return g
}

// Started waits until the guard has been executed, and says why it could not be.
func (g *Guard) Started() error {
	if g == nil {
		return nil
	}
	<-g.started
	return g.startErr
}

// Extend tells the guard that the group may live until deadline (boottime);
// the zero time means that only the end of this process counts.
func (g *Guard) Extend(deadline time.Time) {
	if g == nil {
		return
	}
	m := guard.Message{Kind: guard.Deadline}
	if !deadline.IsZero() {
		m.Value = max(1, kernelBoottime()+boottime.Until(deadline).Nanoseconds())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.struck {
		return
	}
	g.deadline = m
	g.order(m)
}

// strike has the guard kill the command, whatever there is of it, at once and from
// now on.
func (g *Guard) strike() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.struck {
		g.struck = true
		g.deadline = guard.Message{Kind: guard.Deadline, Value: 1}
		g.order(g.deadline)
	}
}

// kernelBoottime is CLOCK_BOOTTIME as the guard reads it.
func kernelBoottime() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return now.Nano()
}

// order sends m if there is a guard; else its successor will be told. g.mu is held.
func (g *Guard) order(m guard.Message) {
	if g.pid != 0 && !g.closing {
		g.send(m)
	}
}

// starting tells that a command with marker in its environment is about to be started.
func (g *Guard) starting(marker string) {
	session, err := unix.Getsid(0)
	if err == nil && marker != "" {
		g.setGroup(guard.Message{Kind: guard.Starting, Value: int64(session), Text: marker})
	}
}

// watch tells the number of the command's process group.
func (g *Guard) watch(group int) { g.setGroup(guard.Message{Kind: guard.Watch, Value: int64(group)}) }

func (g *Guard) setGroup(m guard.Message) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.group = m
	g.order(m)
}

func (g *Guard) park()   { g.setParked(true) }
func (g *Guard) unpark() { g.setParked(false) }

func (g *Guard) setParked(parked bool) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parked = parked
	g.order(guard.Message{Kind: g.stance()})
}

// await blocks until the guard is on watch.
func (g *Guard) await(ctx context.Context) error {
	if g == nil {
		return nil
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-g.ready:
		return nil
	case <-g.over:
		return g.err
	case <-ctx.Done():
		return nil // the caller looks
	case <-late.C:
		return errors.New("guard is not ready after 10 s")
	}
}

// disarm tells the guard to go, before the command's leader is reaped: from
// then on the group's number may come to belong to somebody else. The order is
// read before a deadline is looked at, so only a deadline that is close can
// meet a guard that has already looked; then its end is waited for.
func (g *Guard) disarm() {
	if g == nil {
		return
	}
	g.mu.Lock()
	at := g.deadline.Value
	g.dismiss()
	g.mu.Unlock()
	if at != 0 && kernelBoottime() > at-near.Nanoseconds() {
		g.Close()
	}
}

// dismiss sends the last order, once. g.mu is held.
func (g *Guard) dismiss() {
	if !g.closing {
		if g.pid != 0 {
			_ = unix.Kill(g.pid, unix.SIGKILL)
		}
		g.closing = true
		close(g.quit)
	}
}

// Close disarms the guard, if Run has not, waits for its end and reaps it.
// Whoever has started a guard calls it before the process ends. It may be
// called again.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.dismiss()
	g.mu.Unlock()
	<-g.over
}

func (g *Guard) isClosing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closing
}

// warnWith makes f the receiver of what happens to the guards.
func (g *Guard) warnWith(f func(error)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.warn = f
}

func (g *Guard) tell(err error) {
	g.mu.Lock()
	warn := g.warn
	g.mu.Unlock()
	if warn != nil {
		warn(err)
	}
}
