package runner

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

const (
	chance = 50 * time.Millisecond  // for execve to return, when the command is not wanted any more
	insist = 100 * time.Millisecond // between two SIGKILLs for what execve has not let go
)

// A birth is the start of a command. It goes on beside everything else: execve(2)
// hangs for as long as the file does not come.
type birth struct {
	done  chan struct{} // closed when the command has been started, or cannot be
	child *child        // meaningful then, as err is
	err   error

	mu    sync.Mutex
	off   bool // no fork may begin any more
	begun bool // one has begun, and has not failed
}

var errOff = errors.New("called off")

// fork executes a file, unless it is called off.
func (b *birth) fork(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	if !b.enter() {
		return 0, errOff
	}
	defer unhindered()()
	if pid, err = fork(path, argv, attr); err != nil {
		b.leave()
	}
	return pid, err
}

func (b *birth) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun = !b.off
	return b.begun
}

func (b *birth) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun = false
}

// callOff lets no fork begin any more, and reports whether one has.
func (b *birth) callOff() (begun bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.off = true
	return b.begun
}

// over reports that the command has been started, or cannot be.
func (b *birth) over() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// begin starts the command. Its goroutine ends with execve, which is waited for
// unless the file's server, asked before, does not answer; it does not survive the process.
func (c *Command) begin() *birth {
	b := &birth{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.child, b.err = c.start(b)
	}()
	return b
}

// A prelude is what comes while the command is being started.
type prelude struct {
	sieve
	stops    []*StopError
	unwanted error      // why the command is not to be started any more; the first reason counts
	stop     *StopError // the same, if it is no signal
}

func (p *prelude) end(reason error, stop *StopError) {
	if p.unwanted == nil {
		p.unwanted, p.stop = reason, stop
	}
}

// attend waits for the start. When the command is not wanted any more, execve has
// another moment: if it returns, the command gets the signal, or is stopped, like any
// other. What is no command then never becomes one, and the error says why; unless it
// became one just before it was killed: then killed tells of its end.
func (c *Command) attend(ctx context.Context, b *birth, signals <-chan os.Signal, p *prelude) (killed *event, err error) {
	var overdue, enough <-chan time.Time
	if c.MaxRuntime > 0 {
		overdue = time.After(c.MaxRuntime)
	}
	over := ctx.Done()
	for {
		select {
		case <-b.done:
			return nil, b.err
		case <-enough:
			if b.over() {
				return nil, b.err
			}
			if killed = c.prevent(b); killed == nil {
				err = p.unwanted
			}
			return killed, err
		case sig := <-signals:
			if p.take(sig); p.fatal != 0 {
				p.end(&SignalError{p.fatal}, nil)
			}
		case <-c.stops.C():
			for _, s := range c.stops.take() {
				p.stops = append(p.stops, s)
				p.end(&NotStartedError{s.Reason}, s)
			}
		case <-overdue:
			p.end(&NotStartedError{ErrMaxRuntime}, &StopError{Reason: ErrMaxRuntime})
		case <-over:
			over = nil
			p.end(context.Cause(ctx), stopOf(context.Cause(ctx)))
		}
		if p.unwanted != nil && enough == nil {
			enough = time.After(chance)
		}
	}
}

// prevent sees to it that nothing of the command is ever run, or returns its end if
// it was.
func (c *Command) prevent(b *birth) (killed *event) {
	if !b.callOff() {
		return nil
	}
	again := time.NewTicker(insist)
	defer again.Stop()
	for !b.over() {
		c.strike()
		select {
		case <-b.done:
		case <-again.C:
		}
	}
	if b.err != nil {
		return nil
	}
	_ = unix.Kill(-b.child.pid, unix.SIGKILL)
	end := b.child.end()
	if guard.Executed(b.child.pid) {
		return &end
	}
	terminal{}.reclaim(b.child.pid)
	b.child.reap()
	return nil
}

// strike sends SIGKILL to what may be hanging in execve, whose number nobody has been
// told yet. The guard finds it; as PID 1 it is among those that would not outlive this
// process anyway.
func (c *Command) strike() {
	c.Guard.strike()
	if os.Getpid() == 1 {
		_ = unix.Kill(-1, unix.SIGKILL)
	}
}
