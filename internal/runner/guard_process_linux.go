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

// run starts and supervises all guards, one after the other, until Close. The first one has been
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

// execute starts a guard and passes it the orders of its predecessor. It returns the pipe on which
// the guard reports that it is ready.
func (g *Guard) execute() (ready *os.File, err error) {
	pipes, err := guard.NewPipes()
	if err != nil {
		return nil, err
	}
	// The guard finds its orders in the pipe: if this process dies at this moment, the guard
	// already knows which group to kill.
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

// executeWith starts the process. The files that it holds may be closed meanwhile: a caller whose
// lock is already taken closes them.
func (g *Guard) executeWith(pipes guard.Pipes) (pid int, err error) {
	closed := withDescriptors(g.keep, func(keep []uintptr) { pid, err = pipes.Execute(keep) })
	if closed != nil {
		pipes.CloseGuards()
		return 0, closed
	}
	return pid, err
}

// use sends orders to the new guard from now on, first those that came up since it was executed.
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

// supervise waits for the end of the guard that was started, and replaces it.
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
		g.report(fmt.Errorf("the guard ended (%s); redlockrun starts another one", endOf(status)))
		if !wasReady && !status.Signaled() && !g.pause() {
			return // its runtime could not start, and the next guard's would fail too
		}
		ready = g.replace()
	}
}

// unreadyError says why a guard ended before it was ready.
func unreadyError(status unix.WaitStatus) error {
	if status.Exited() && status.ExitStatus() == guard.Powerless {
		return fmt.Errorf("start guard: send signal: %w (a filter of system calls, seccomp, forbids it)", unix.EPERM)
	}
	return fmt.Errorf("guard ended before it was ready (%s)", endOf(status))
}

// awaitEnd waits for the end of a guard, and reports whether it was ready.
func (g *Guard) awaitEnd(ready *os.File, first bool) (wasReady bool) {
	defer ready.Close()
	sign := make([]byte, 1)
	if _, err := io.ReadFull(ready, sign); err != nil {
		return false
	}
	if first {
		close(g.ready)
	}
	_, _ = ready.Read(sign) // only the end of the pipe follows
	return true
}

// replace starts another guard, and tries again each second if that fails. It returns nil if Close
// came first.
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

// pause waits before another try. It returns false if Close came first.
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
