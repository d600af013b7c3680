// Package runner runs a command as if it had been called directly: its own
// process group, the caller's streams, the terminal when it asks for it, every
// signal, the exact status, and nothing left of it if redlockrun dies.
//
// A program that imports this package becomes a guard when it is executed as
// one (package guard); its main has nothing to do for that.
package runner

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Command is the command to run. It can run once.
type Command struct {
	// Argv is found and executed as execvp(3) does, with PATH from Env. Argv[0] is searched for
	// unless it has a slash, and /bin/sh runs a text without "#!".
	Argv, Env []string

	// Stdin, Stdout, Stderr become the command's descriptors themselves. nil stands for this
	// process's own descriptor of that number.
	Stdin, Stdout, Stderr *os.File

	// Copied is the number of pipes in Stdout and Stderr that this process copies to its own
	// streams while the command runs. If there are any, its own streams decide whether a person
	// typed the command, and each pipe gets a thread that a write can block.
	Copied int

	// MaxRuntime, if not 0, limits how long the command may run; then it is stopped with
	// ErrMaxRuntime as the reason. execve may take as long before that.
	MaxRuntime time.Duration

	// StartBy, if not nil, returns the last instant (boottime) at which the command may start. The
	// zero time means no limit. It is called before each fork. The child checks the clock again
	// between fork and execve: a process that stands still meanwhile, for however long, starts
	// nothing afterwards. Run returns ErrLate then.
	StartBy func() time.Time

	// Grace is the time between SIGTERM and SIGKILL when the command is stopped.
	Grace time.Duration

	// Guard, if not nil, kills the command's group when this process has exited or its deadline
	// has passed. Run disarms it, whatever Run returns; Close ends it.
	Guard *Guard

	// Marker is an entry of Env that no other process has. With it a guard finds a command whose
	// starter died before it could send the group's number. Without it such a command lives on.
	Marker string

	// Parked, if not nil, is called when every member of the group is seen to be stopped, and
	// before this process stops itself (Ctrl-Z). Resumed is called after it was continued and
	// before the group is. After a *StandsError the group stands still until GoOn. Any other error
	// from Resumed ends the command as the end of the context would.
	Parked  func()
	Resumed func() error

	// Warn, if not nil, gets warnings for the user although the run goes on: the command may not
	// get a signal, or the guard was killed. It is called from several goroutines and must not
	// block.
	Warn func(error)

	stops  inbox[*StopError]
	stands inbox[standOrder]
}

// Status says how a command ended.
type Status struct {
	Code    int            // 0 to 255; 128+Signal if a signal ended it
	Signal  syscall.Signal // 0 if it exited
	Stopped error          // why it was stopped; nil if it had ended before the stop was sent
	Left    int            // processes of its group that run on; none as PID 1, with which they end

	Forwarded   Signals // signals to this process while the command ran, if by default they end a program
	HadTerminal bool    // its group was the foreground group when it ended
}

// A StopError as the cause of Run's context gives the group SIGTERM at once and SIGKILL at KillBy
// or after Grace, whichever comes first. If that instant has passed, SIGKILL comes at once. Any
// other cause works like a StopError without KillBy.
type StopError struct {
	Reason error
	KillBy time.Time // boottime; zero: only Grace counts
}

func (e *StopError) Error() string { return "stop command: " + e.Reason.Error() }
func (e *StopError) Unwrap() error { return e.Reason }

// A StartError says why a command could not be started.
type StartError struct {
	Name string
	Code int // 127 not found, 126 not executable, 71 no resources
	Err  error
}

func (e *StartError) Error() string { return "cannot run " + e.Name + ": " + e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// A SignalError says that a signal came before the command was started, and that therefore nothing
// ran.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string {
	return fmt.Sprintf("got signal %d (%v)", int(e.Signal), e.Signal)
}

// errNotStopped says why a command could not be suspended.
var errNotStopped = errors.New("cannot suspend the command: one of its processes does not stop; " +
	"redlockrun keeps the lock")

// ErrMaxRuntime is the reason when a command ran too long, or was not started because its file
// took too long to arrive.
var ErrMaxRuntime = errors.New("the command took too long")

// A StandsError is returned by Command.Resumed if the command must stand still, for a reason.
type StandsError struct{ Reason error }

func (e *StandsError) Error() string { return "the command stands still: " + e.Reason.Error() }
func (e *StandsError) Unwrap() error { return e.Reason }

// ErrLate is the reason when the instant StartBy came before the command was started.
var ErrLate = errors.New("the time to start the command was over")

// A NotStartedError says that the command was stopped before it was started, and that therefore
// nothing ran.
type NotStartedError struct{ Reason error }

func (e *NotStartedError) Error() string { return "nothing was run: " + e.Reason.Error() }
func (e *NotStartedError) Unwrap() error { return e.Reason }

// Stop stops the command as the end of Run's context would. It may be called at any time, from any
// goroutine and more than once: the first reason stays, the earliest SIGKILL counts. So a lost
// lock can shorten a grace period that already runs.
func (c *Command) Stop(e *StopError) { c.stops.add(e) }

// StandStill makes the whole process group stand still until GoOn. If not every member is seen to
// be stopped at the instant by (boottime), the group is killed for reason. While the command stands
// still, each end of it is SIGKILL: by Stop, and by a signal to this process. It can be called as
// Stop can.
func (c *Command) StandStill(reason error, by time.Time) { c.stands.add(standOrder{reason, by}) }

// GoOn continues a command that stands still, unless by (boottime) has passed.
func (c *Command) GoOn(by time.Time) { c.stands.add(standOrder{by: by}) }

// A standOrder makes the command stand still for a reason; without one it makes the command go on.
type standOrder struct {
	reason error
	by     time.Time
}

// An inbox passes the calls of other goroutines to Run.
type inbox[T any] struct {
	mu      sync.Mutex
	pending []T
	wake    chan struct{}
}

func (b *inbox[T]) add(call T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = append(b.pending, call)
	select {
	case b.channel() <- struct{}{}:
	default:
	}
}

// C is readable when there is a call to take.
func (b *inbox[T]) C() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.channel()
}

// waiting reports whether there is a call to take.
func (b *inbox[T]) waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending) > 0
}

func (b *inbox[T]) take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.pending
	b.pending = nil
	return all
}

func (b *inbox[T]) channel() chan struct{} {
	if b.wake == nil {
		b.wake = make(chan struct{}, 1)
	}
	return b.wake
}

func (c *Command) warn(err error) {
	if c.Warn != nil {
		c.Warn(err)
	}
}
