package runner

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/forkexec"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

const (
	execGrace = 50 * time.Millisecond  // for execve to return after a stop
	execKill  = 100 * time.Millisecond // between two SIGKILLs for a child that execve still keeps
)

// A spawn is the start of a command: fork and execve. It runs in its own goroutine, because
// execve(2) hangs for as long as the file does not arrive.
type spawn struct {
	done  chan struct{} // closed when the command has been started, or cannot be
	child *child        // valid then, as is err
	err   error

	mu        sync.Mutex
	cancelled bool // no fork may begin any more
	forked    bool // one has begun, and has not failed
}

var errCancelled = errors.New("cancelled")

// spawn starts the command. Its goroutine ends with execve. execve is waited for, unless the file
// server does not answer a check made before it; a hanging execve dies with the process.
func (c *Command) spawn() *spawn {
	s := &spawn{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.child, s.err = c.start(s)
	}()
	return s
}

// fork executes a file, unless the start is cancelled or too late. The child itself announces
// itself to the guard, before it executes anything.
func (s *spawn) fork(c *Command, path string, argv []string, attr *forkexec.Attr) (pid int, err error) {
	if !s.beginFork() {
		return 0, errCancelled
	}
	defer withoutPauses()()
	defer c.Guard.announcedBy(attr)()
	attr.By = c.startBy()
	if attr.By != 0 && boottime.Ticks(boottime.Now()) >= attr.By {
		err = forkexec.ErrLate
	} else {
		pid, err = c.fork(path, argv, attr, func() { c.Guard.starting(c.Marker) })
	}
	if err != nil {
		s.forkFailed()
	}
	return pid, err
}

// startBy returns StartBy as a tick, 0 if there is no limit.
func (c *Command) startBy() int64 {
	if c.StartBy == nil {
		return 0
	}
	by := c.StartBy()
	if by.IsZero() {
		return 0
	}
	return max(1, boottime.Ticks(by))
}

func (s *spawn) beginFork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forked = !s.cancelled
	return s.forked
}

func (s *spawn) forkFailed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forked = false
}

// cancel prevents further forks, and reports whether one has begun.
func (s *spawn) cancel() (forked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = true
	return s.forked
}

// over reports whether the command has been started, or cannot be.
func (s *spawn) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// awaitSpawn waits for the start. After a stop, execve gets another moment. If it returns in that
// time, the command gets the signal, or is stopped, like any other. Otherwise the command never
// runs, and the error says why. If it began to run just before it was killed, killed reports its
// end.
func (c *Command) awaitSpawn(
	ctx context.Context, s *spawn, signals <-chan os.Signal, p *pending,
) (killed *event, err error) {
	var overdue, enough, doubtful <-chan time.Time
	if c.MaxRuntime > 0 {
		overdue = time.After(c.MaxRuntime)
	}
	over := ctx.Done()
	for {
		select {
		case <-s.done:
			return nil, s.err
		case <-enough:
			return c.abort(s, p)
		case sig := <-signals:
			p.take(sig)
		case <-c.stops.C():
			p.takeStops(c.stops.take())
		case <-c.stands.C():
			p.stands = append(p.stands, c.stands.take()...)
			doubtful = p.doubtful()
		case <-doubtful:
			p.takeStops([]*StopError{{Reason: p.stands[len(p.stands)-1].reason}})
		case <-overdue:
			p.end(&NotStartedError{ErrMaxRuntime}, &StopError{Reason: ErrMaxRuntime})
		case <-over:
			over = nil
			p.end(context.Cause(ctx), stopOf(context.Cause(ctx)))
		}
		if p.unwanted != nil && enough == nil {
			enough = time.After(execGrace)
		}
	}
}

// abort ends the start of a command that must not run any more. It returns the same as awaitSpawn.
func (c *Command) abort(s *spawn, p *pending) (killed *event, err error) {
	if s.over() {
		return nil, s.err
	}
	if killed = c.killSpawn(s); killed == nil {
		err = p.unwanted
	}
	return killed, err
}

// killSpawn makes sure that nothing of the command ever runs. It returns the command's end if it
// ran.
func (c *Command) killSpawn(s *spawn) (killed *event) {
	if !s.cancel() {
		return nil
	}
	again := time.NewTicker(execKill)
	defer again.Stop()
	for !s.over() {
		c.killForked()
		select {
		case <-s.done:
		case <-again.C:
		}
	}
	if s.err != nil {
		return nil
	}
	_ = unix.Kill(-s.child.pid, unix.SIGKILL)
	end := s.child.awaitEnd()
	if guard.Executed(s.child.pid) {
		return &end
	}
	terminal{}.reclaim(s.child.pid)
	reap(s.child.pid)
	return nil
}

// killForked sends SIGKILL to a child that may hang in execve, whose number this process does not
// know yet. The guard finds it. As PID 1 this process kills the children that would not outlive it
// anyway.
func (c *Command) killForked() {
	c.Guard.killNow()
	if os.Getpid() == 1 {
		_ = unix.Kill(-1, unix.SIGKILL)
	}
}
