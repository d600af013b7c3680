// Package runner runs a command as if it had been called directly: its own
// process group, the caller's streams, the terminal when it asks for it, every
// signal, the exact status, and nothing left of it if redlockrun dies.
package runner

import (
	"context"
	"os"
	"syscall"
	"time"
)

// A Command is what is to be run.
type Command struct {
	Argv, Env             []string
	Stdin, Stdout, Stderr *os.File

	// Grace is the time between SIGTERM and SIGKILL when the context ends.
	Grace time.Duration

	// Guard, if not nil, kills the command's group when this process is gone or
	// its deadline has passed. Run disarms and ends it.
	Guard *Guard

	// Parked, if not nil, is called when the group has been stopped and this process
	// is about to stop itself (Ctrl-Z). Resumed is called after it was continued and
	// before the group is; an error ends the command as the end of the context would.
	Parked  func()
	Resumed func() error
}

// Status is how a command ended.
type Status struct {
	Code    int            // 0 to 255; 128+Signal if a signal ended it
	Signal  syscall.Signal // 0 if it exited
	Stopped error          // why it was stopped; nil if it had ended before the stop was sent
	Left    int            // processes of its group that still run
}

// A StopError as the cause of Run's context gives the group SIGTERM at once and
// SIGKILL at KillBy or after Grace, whichever comes first.
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

func (e *StartError) Error() string { return "run " + e.Name + ": " + e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// Run starts the command, forwards signals to it and returns when it has ended
// and been reaped. When ctx ends, the command is stopped; the cause of ctx says why.
func (c *Command) Run(ctx context.Context, signals <-chan os.Signal) (Status, error) {
	panic("not built yet")
}

// A Guard is the tiny process that outlives redlockrun for an instant: it
// kills the command's group when this process is gone or stands still.
type Guard struct{}

// StartGuard executes this program again as a guard. It may run beside the
// acquiring of the lock. As PID 1 it returns nil, nil: the kernel does the work.
func StartGuard() (*Guard, error) { panic("not built yet") }

// Extend tells the guard that the group may live until deadline (boottime);
// the zero time means that only the end of this process counts.
func (g *Guard) Extend(deadline time.Time) { panic("not built yet") }

// Close ends a guard and reaps it. Only for a guard that no Run was given.
func (g *Guard) Close() error { panic("not built yet") }

// IsGuard reports whether this process has been started as a guard; main then
// calls GuardMain and nothing else.
func IsGuard(argv []string) bool { panic("not built yet") }

// GuardMain is the whole life of a guard; it returns its exit status.
func GuardMain() int { panic("not built yet") }
