package runner

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// spawn starts a guard and tells it what its predecessor knew. What comes back
// is the pipe on which it shows a sign of life.
func (g *Guard) spawn() (*os.File, error) {
	if e := g.takeEarly(); e != nil {
		g.hire(e.PID, e.Pipes)
		return os.NewFile(uintptr(e.Pipes.Ready[0]), "guard"), nil
	}
	pipes, err := guard.NewPipes()
	if err != nil {
		return nil, err
	}
	// It finds its orders in the pipe: should this process die in the same
	// moment, the guard knows already whom to kill.
	g.mu.Lock()
	g.brief(pipes.Orders[1])
	g.mu.Unlock()
	pid, err := g.execute(pipes)
	if err != nil {
		pipes.CloseStarters()
		return nil, err
	}
	g.hire(pid, pipes)
	return os.NewFile(uintptr(pipes.Ready[0]), "guard"), nil
}

// takeEarly is the guard that was executed before this process knew what it
// was to do, unless it would have to hold something.
func (g *Guard) takeEarly() *guard.Early {
	if len(g.keep) > 0 {
		return nil
	}
	return guard.TakeEarly()
}

// execute starts the process. The files that it is to hold may be closed meanwhile:
// whoever asks for the lock does so when it is another's.
func (g *Guard) execute(pipes guard.Pipes) (pid int, err error) {
	defer unhindered()()
	closed := withNumbers(g.keep, func(keep []uintptr) { pid, err = pipes.Execute(keep) })
	if closed != nil {
		pipes.CloseGuards()
		return 0, closed
	}
	return pid, err
}

// hire makes a guard the one that is given orders, and tells it what has come up
// since it was executed.
func (g *Guard) hire(pid int, pipes guard.Pipes) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pid, g.orders = pid, pipes.Orders[1]
	if g.closing {
		_ = unix.Kill(pid, unix.SIGKILL)
		return
	}
	g.brief(pipes.Orders[1])
}

// DropEarlyGuard ends the guard that was executed while this process was
// initialized, if StartGuard has not taken it.
func DropEarlyGuard() {
	e := guard.TakeEarly()
	if e == nil {
		return
	}
	_ = unix.Kill(e.PID, unix.SIGKILL)
	e.Pipes.CloseStarters()
	reapGuard(e.PID)
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

// run is the life of all guards, one after the other, until Close.
func (g *Guard) run() {
	defer close(g.over)
	signs, err := g.spawn()
	if err != nil {
		g.startErr = fmt.Errorf("start guard: %w", err)
		g.err = g.startErr
	}
	close(g.started)
	if err == nil {
		g.look(signs)
	}
}

// look follows the life of the guard that has been started, and then of its successors.
func (g *Guard) look(signs *os.File) {
	for first := true; signs != nil; first = false {
		shown := g.follow(signs, first)
		status := g.bury()
		switch {
		case g.isClosing():
			return
		case first && !shown:
			g.err = fmt.Errorf("guard ended before it was ready (%s)", ending(status))
			return
		}
		g.tell(fmt.Errorf("guard has ended (%s): another one is started", ending(status)))
		if !shown && !status.Signaled() && !g.rest() {
			return // its runtime could not start, and the next one's may fare no better
		}
		signs = g.succeed()
	}
}

// follow waits for the end of a guard, and reports whether it has been on watch.
func (g *Guard) follow(signs *os.File, first bool) (shown bool) {
	defer signs.Close()
	sign := make([]byte, 1)
	if _, err := io.ReadFull(signs, sign); err != nil {
		return false
	}
	if first {
		close(g.ready)
	}
	_, _ = signs.Read(sign) // nothing comes but the end
	return true
}

// succeed starts another guard, and again each second if it cannot be started.
func (g *Guard) succeed() *os.File {
	for {
		signs, err := g.spawn()
		if err == nil {
			return signs
		}
		g.tell(fmt.Errorf("start guard: %w", err))
		if !g.rest() {
			return nil
		}
	}
}

// rest waits before another try; false if Close came first.
func (g *Guard) rest() bool {
	select {
	case <-g.quit:
		return false
	case <-time.After(mourning):
		return true
	}
}

// bury reaps the guard and closes the pipe to it.
func (g *Guard) bury() unix.WaitStatus {
	g.mu.Lock()
	pid, orders := g.pid, g.orders
	g.pid, g.orders = 0, -1
	g.mu.Unlock()
	unix.Close(orders)
	return reapGuard(pid)
}

func reapGuard(pid int) (status unix.WaitStatus) {
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			return status
		}
	}
}

func ending(status unix.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
}
