package session

import (
	"context"
	"sync"

	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// A halt ends a run early: it stops the command, or ends the pause before the next start.
type halt struct {
	ctx    context.Context // ends when the halt is called; the cause is its *runner.StopError
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	command *runner.Command // that runs, or did last; nil before the first
	resting bool            // between two starts
	lost    bool            // the lock is lost, though the command may run on without it
}

func newHalt() *halt {
	h := new(halt)
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// runs makes c what is stopped, at once if the halt has been called.
func (h *halt) runs(c *runner.Command) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.command, h.resting = c, false
	if stop, called := context.Cause(h.ctx).(*runner.StopError); called {
		c.Stop(stop)
	}
}

// rest begins a pause, unless the run is over or has lost its lock: then it may not go on.
func (h *halt) rest() (may bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resting = !h.lost && h.ctx.Err() == nil
	return h.resting
}

// call ends the run for e, and reports whether a command runs; again it can only hasten that.
func (h *halt) call(e *runner.StopError) (runs bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end(e)
	return h.command != nil && !h.resting
}

func (h *halt) end(e *runner.StopError) {
	h.cancel(e)
	if h.command != nil {
		h.command.Stop(e)
	}
}

// lose is told of a loss with which a command may run on, and reports whether one does: in a
// pause the loss ends the run.
func (h *halt) lose(lost *watchdog.LostError) (runs bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
	if h.resting {
		h.end(&runner.StopError{Reason: lost})
	}
	return !h.resting
}

// regain is told that the lock is held after all.
func (h *halt) regain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = false
}
