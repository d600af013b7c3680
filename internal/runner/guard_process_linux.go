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

const restartPause = time.Second // between two tries to start another guard

// run is the life of all guards, one after the other, until Close. The first one has been
// executed, or could not be.
func (g *Guard) run(ready *os.File, err error) {
	defer close(g.ended)
	if err != nil {
		g.startErr = fmt.Errorf("start guard: %w", err)
		g.endErr = g.startErr
	}
	close(g.started)
	if err == nil {
		g.supervise(ready)
	}
}

// executeAlongside executes a guard while the rest of the program goes on.
func (g *Guard) executeAlongside() (ready *os.File, err error) {
	defer withoutPauses()()
	return g.execute()
}

// execute starts a guard and tells it what its predecessor knew. What comes back
// is the pipe on which it shows that it is ready.
func (g *Guard) execute() (ready *os.File, err error) {
	pipes, err := guard.NewPipes()
	if err != nil {
		return nil, err
	}
	// It finds its orders in the pipe: should this process die in the same
	// moment, the guard knows already whom to kill.
	g.mu.Lock()
	g.tellAll(pipes.Orders[1])
	g.mu.Unlock()
	pid, err := g.executeWith(pipes)
	if err != nil {
		pipes.CloseStarters()
		return nil, err
	}
	g.use(pid, pipes)
	return os.NewFile(uintptr(pipes.Ready[0]), "guard"), nil
}

// executeWith starts the process. The files that it is to hold may be closed meanwhile:
// whoever asks for the lock does so when it is another's.
func (g *Guard) executeWith(pipes guard.Pipes) (pid int, err error) {
	closed := withDescriptors(g.keep, func(keep []uintptr) { pid, err = pipes.Execute(keep) })
	if closed != nil {
		pipes.CloseGuards()
		return 0, closed
	}
	return pid, err
}

// use makes a guard the one that is given orders, and tells it what has come up
// since it was executed.
func (g *Guard) use(pid int, pipes guard.Pipes) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pid, g.orders = pid, pipes.Orders[1]
	if g.closing {
		_ = unix.Kill(pid, unix.SIGKILL)
		return
	}
	g.tellAll(g.orders)
}

// supervise waits for the end of the guard that has been started, and replaces it.
func (g *Guard) supervise(ready *os.File) {
	for first := true; ready != nil; first = false {
		wasReady := g.awaitEnd(ready, first)
		status := g.reap()
		if g.isClosing() {
			return
		}
		if first && !wasReady {
			g.endErr = unreadyError(status)
			return
		}
		g.report(fmt.Errorf("guard has ended (%s): another one is started", endOf(status)))
		if !wasReady && !status.Signaled() && !g.pause() {
			return // its runtime could not start, and the next one's may fare no better
		}
		ready = g.replace()
	}
}

// unreadyError is why a guard has ended before it was ready.
func unreadyError(status unix.WaitStatus) error {
	if status.Exited() && status.ExitStatus() == guard.Powerless {
		return fmt.Errorf("start guard: send signal: %w (a filter of system calls, seccomp, forbids it)", unix.EPERM)
	}
	return fmt.Errorf("guard ended before it was ready (%s)", endOf(status))
}

// awaitEnd waits for the end of a guard, and reports whether it has been on watch.
func (g *Guard) awaitEnd(ready *os.File, first bool) (wasReady bool) {
	defer ready.Close()
	sign := make([]byte, 1)
	if _, err := io.ReadFull(ready, sign); err != nil {
		return false
	}
	if first {
		close(g.ready)
	}
	_, _ = ready.Read(sign) // nothing comes but the end
	return true
}

// replace starts another guard, and again each second if it cannot be started. nil is
// that Close came first.
func (g *Guard) replace() (ready *os.File) {
	for {
		ready, err := g.executeAlongside()
		if err == nil {
			return ready
		}
		g.report(fmt.Errorf("start guard: %w", err))
		if !g.pause() {
			return nil
		}
	}
}

// pause waits before another try; false if Close came first.
func (g *Guard) pause() bool {
	select {
	case <-g.quit:
		return false
	case <-time.After(restartPause):
		return true
	}
}

// reap reaps the guard and closes the pipe to it.
func (g *Guard) reap() unix.WaitStatus {
	g.mu.Lock()
	pid, orders := g.pid, g.orders
	g.pid, g.orders = 0, -1
	g.mu.Unlock()
	unix.Close(orders)
	return reap(pid)
}

// reap waits for the end of a child of this process and frees its number.
func reap(pid int) (status unix.WaitStatus) {
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			return status
		}
	}
}

func endOf(status unix.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
}
