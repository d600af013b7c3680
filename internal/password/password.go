// Package password gets the password from a command that prints it, for services whose passwords
// are tokens that live for minutes. The command runs at each new connection; its stdout is never
// shown.
package password

import (
	"context"
	"sync"
	"time"

	"redlockrun/internal/lock"
)

const (
	// limit is how long the command may run.
	limit = 5 * time.Second

	// fresh is how long a printed password counts as new for a connection. A try of a renewal may
	// end before a slow command does: the next try, within a second, finds the printed password.
	// In a Cluster a try makes two connections.
	fresh = 1500 * time.Millisecond
)

// A Command is a shell text that prints a password. It implements lock.Passwords.
type Command struct {
	text string
	ctx  context.Context // ends with Close
	end  context.CancelFunc
	runs sync.WaitGroup

	mu      sync.Mutex
	run     *run      // the one in progress; nil if there is none
	last    string    // the last printed password
	printed time.Time // when it was printed; zero if the next connection needs another
}

// A run is one run of the command. Several connections may wait for it.
type run struct {
	done     chan struct{} // closed at its end
	password string
	err      error
}

// New returns a command that has not run yet. Close ends it.
func New(text string) *Command {
	c := &Command{text: text}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// Password implements lock.Passwords. When ctx ends the command goes on: the next caller gets its
// password.
func (c *Command) Password(ctx context.Context) (string, error) {
	r := c.present()
	select {
	case <-r.done:
		return r.password, r.err
	case <-ctx.Done():
		return "", &lock.PasswordError{Problem: "the password command has not ended in time"}
	}
}

// present returns the run in progress, one that has just ended, or a new one.
func (c *Command) present() *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.run != nil:
		return c.run
	case !c.printed.IsZero() && time.Since(c.printed) < fresh:
		return ended(c.last)
	}
	r := &run{done: make(chan struct{})}
	c.run = r
	c.runs.Go(func() { c.complete(r) })
	return r
}

func ended(password string) *run {
	r := &run{done: make(chan struct{}), password: password}
	close(r.done)
	return r
}

func (c *Command) complete(r *run) {
	r.password, r.err = c.fetch()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run = nil
	if r.err == nil {
		c.last, c.printed = r.password, time.Now()
	}
	close(r.done)
}

// Refused implements lock.Passwords.
func (c *Command) Refused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.printed = time.Time{}
}

// Last implements lock.Passwords.
func (c *Command) Last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Close kills the command if it runs, and waits for that.
func (c *Command) Close() {
	c.end()
	c.runs.Wait()
}
