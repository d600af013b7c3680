package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

const (
	patience = 10 * time.Second // for a guard to get ready
	mourning = time.Second      // between two tries to start another one
	farewell = time.Second      // for a guard to go when it is told to
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
	warn     func(error)

	ready chan struct{} // closed when the first guard is on watch
	over  chan struct{} // closed when there is no guard any more and none will come
	err   error         // why the first guard did not get ready; read after over
	quit  chan struct{} // closed by Close
}

// StartGuard executes this program again as a guard, and returns before it is
// ready: Run waits for that. It may be called beside the acquiring of the lock. The guard holds keep
// open until it ends. As PID 1 StartGuard returns nil, nil.
func StartGuard(keep ...*os.File) (*Guard, error) {
	if os.Getpid() == 1 {
		return nil, nil
	}
	g := &Guard{keep: keep, ready: make(chan struct{}), over: make(chan struct{}), quit: make(chan struct{})}
	signs, err := g.spawn()
	if err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	go g.look(signs)
	return g, nil
}

// spawn starts a guard and tells it what its predecessor knew. What comes back
// is the pipe on which it shows signs of life.
func (g *Guard) spawn() (*os.File, error) {
	var orders, signs [2]int
	if err := unix.Pipe2(orders[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	defer unix.Close(orders[0])
	if err := unix.Pipe2(signs[:], unix.O_CLOEXEC); err != nil {
		unix.Close(orders[1])
		return nil, err
	}
	defer unix.Close(signs[1])
	_ = unix.SetNonblock(orders[1], true) // a guard that does not read must not stop a renewal
	_ = unix.SetNonblock(signs[0], true)
	if err := g.hire(orders, signs); err != nil {
		unix.Close(orders[1])
		unix.Close(signs[0])
		return nil, err
	}
	return os.NewFile(uintptr(signs[0]), "guard"), nil
}

// hire starts a guard that finds its orders in the pipe: should this process
// die in the same moment, the guard knows already whom to kill. What has come
// up meanwhile is told when it has started.
func (g *Guard) hire(orders, signs [2]int) error {
	g.mu.Lock()
	g.brief(orders[1])
	successor := g.group.Kind != 0
	g.mu.Unlock()
	pid, err := g.execute(orders[0], signs[1], successor)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pid, g.orders = pid, orders[1]
	if g.closing {
		_ = unix.Kill(pid, unix.SIGKILL)
		return nil
	}
	g.brief(orders[1])
	return nil
}

// execute starts the process of a guard, a successor without any delay.
func (g *Guard) execute(orders, signs int, successor bool) (int, error) {
	files := []int{orders, signs}
	for _, f := range g.keep {
		fd, err := descriptor(f)
		if err != nil {
			return 0, err
		}
		files = append(files, int(fd))
	}
	if successor {
		return lay(files, 0)
	}
	return lay(files, hatching)
}

// brief writes to a new guard's pipe what it has to know. g.mu is held.
func (g *Guard) brief(orders int) {
	for _, m := range []guard.Message{g.deadline, g.group} {
		if m.Kind != 0 {
			write(orders, m)
		}
	}
	write(orders, guard.Message{Kind: g.stance()})
}

// stance is what a guard is to think of the deadline. g.mu is held.
func (g *Guard) stance() guard.Kind {
	if g.parked {
		return guard.Park
	}
	return guard.Unpark
}

// send gives an order to the guard that there is. One that has stood still for so long that
// the pipe is full would wake up to deadlines of long ago: it is replaced. That a
// guard is gone is seen by look. g.mu is held.
func (g *Guard) send(m guard.Message) {
	if write(g.orders, m) == unix.EAGAIN {
		_ = unix.Kill(g.pid, unix.SIGKILL)
	}
}

func write(orders int, m guard.Message) error {
	for {
		if _, err := unix.Write(orders, m.Encode()); err != unix.EINTR {
			return err
		}
	}
}

// look follows the life of the guards, one after the other, until Close.
func (g *Guard) look(signs *os.File) {
	defer close(g.over)
	born := false
	for signs != nil {
		sign := make([]byte, 1)
		if _, err := io.ReadFull(signs, sign); err == nil {
			if !born {
				close(g.ready)
			}
			born = true
			_, _ = io.Copy(io.Discard, signs) // one more sign when it has been executed, and the end
		}
		signs.Close()
		status := g.bury()
		if g.isClosing() {
			return
		}
		if !born {
			g.err = fmt.Errorf("guard ended before it was ready: %v", status)
			return
		}
		g.tell(fmt.Errorf("guard was killed (%v): another one is started", status))
		signs = g.succeed()
	}
}

// succeed starts another guard, and again each second if it cannot be started.
func (g *Guard) succeed() *os.File {
	for {
		signs, err := g.spawn()
		if err == nil {
			return signs
		}
		g.tell(fmt.Errorf("start guard: %w", err))
		select {
		case <-g.quit:
			return nil
		case <-time.After(mourning):
		}
	}
}

// bury reaps the guard and closes the pipe to it.
func (g *Guard) bury() string {
	g.mu.Lock()
	pid, orders := g.pid, g.orders
	g.pid, g.orders = 0, -1
	g.mu.Unlock()
	unix.Close(orders)
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	if status.Signaled() {
		return status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
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
	g.deadline = m
	g.order(m)
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
	late := time.AfterFunc(farewell, g.end)
	defer late.Stop()
	<-g.over
}

// end kills a guard that stands still.
func (g *Guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pid != 0 {
		_ = unix.Kill(g.pid, unix.SIGKILL)
	}
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
