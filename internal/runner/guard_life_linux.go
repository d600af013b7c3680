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
	for first := true; signs != nil; first = false {
		shown := g.follow(signs, first)
		status := g.bury()
		switch {
		case g.isClosing():
			return
		case first && shown == 0:
			g.err = fmt.Errorf("guard ended before it was ready (%s)", ending(status))
			return
		}
		g.tell(fmt.Errorf("guard has ended (%s): another one is started", ending(status)))
		if shown < executed && !status.Signaled() && !g.rest() {
			return // it could not be executed, and the next one may fare no better
		}
		signs = g.succeed()
	}
}

// executed is how many signs of life a guard has shown when it has been
// executed: one before, one after.
const executed = 2

// follow waits for the end of a guard and counts its signs of life.
func (g *Guard) follow(signs *os.File, first bool) (shown int64) {
	defer signs.Close()
	if _, err := io.ReadFull(signs, make([]byte, 1)); err != nil {
		return 0
	}
	if first {
		close(g.ready)
	}
	more, _ := io.Copy(io.Discard, signs)
	return 1 + more
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
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	return status
}

func ending(status unix.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
}
