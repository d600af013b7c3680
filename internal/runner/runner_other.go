//go:build !linux

package runner

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// errNotHere says why no command runs. A safe run needs Linux: the guard, a wait without reaping,
// a signal at the parent's death.
var errNotHere = errors.New("running a command needs Linux")

// Run always fails with a *StartError: only Linux has the necessary system calls.
func (c *Command) Run(context.Context, <-chan os.Signal) (Status, error) {
	name := ""
	if len(c.Argv) > 0 {
		name = c.Argv[0]
	}
	return Status{}, &StartError{Name: name, Code: 71, Err: errNotHere}
}

// A Guard does not exist here.
type Guard struct{}

// StartGuard starts nothing; Started reports that.
func StartGuard(keep ...*os.File) *Guard { return &Guard{} }

// StartGuardAtOnce starts nothing; Started reports that.
func StartGuardAtOnce() *Guard { return &Guard{} }

// Started always fails.
func (g *Guard) Started() error { return errNotHere }

// Extend does nothing.
func (g *Guard) Extend(time.Time) {}

// Close does nothing.
func (g *Guard) Close() {}

// Bearing finds no process.
func Bearing(string) []int { return nil }

// Subscribe starts the delivery of the signals that end a program.
func Subscribe() <-chan os.Signal {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	return signals
}

// Reraise does nothing.
func (s Status) Reraise() {}

// Reraise does nothing.
func (e *SignalError) Reraise() {}

func suspend(syscall.Signal, bool) (resume func()) { return func() {} }

func reapAgain() {}

// WithoutTTOU calls f.
func WithoutTTOU(f func()) { f() }
