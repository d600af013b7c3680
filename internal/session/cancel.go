package session

import (
	"context"
	"sync"

	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// A canceller ends a run early: it stops the command, or ends the pause before the next start.
type canceller struct {
	ctx           context.Context // ends when the run is cancelled; the cause is its *runner.StopError
	cancelContext context.CancelCauseFunc

	mu      sync.Mutex
	command *runner.Command // that runs, or did last; nil before the first
	pausing bool            // between two starts
	lost    bool            // the lock is lost, though the command may run on without it
}

func newCanceller() *canceller {
	h := new(canceller)
	h.ctx, h.cancelContext = context.WithCancelCause(context.Background())
	return h
}

// setCommand makes c what is stopped, at once if the run has been cancelled.
func (h *canceller) setCommand(c *runner.Command) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.command, h.pausing = c, false
	if stop, called := context.Cause(h.ctx).(*runner.StopError); called {
		c.Stop(stop)
	}
}

// beginPause begins a pause, unless the run is over or has lost its lock: then it may not go on.
func (h *canceller) beginPause() (may bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pausing = !h.lost && h.ctx.Err() == nil
	return h.pausing
}

// cancelRun ends the run for e, and reports whether a command runs; again it can only hasten that.
func (h *canceller) cancelRun(e *runner.StopError) (runs bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop(e)
	return h.command != nil && !h.pausing
}

func (h *canceller) stop(e *runner.StopError) {
	h.cancelContext(e)
	if h.command != nil {
		h.command.Stop(e)
	}
}

// markLost is told of a loss with which a command may run on, and reports whether one does: in a
// pause the loss ends the run.
func (h *canceller) markLost(lost *watchdog.LostError) (runs bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
	if h.pausing {
		h.stop(&runner.StopError{Reason: lost})
	}
	return !h.pausing
}

// markHeld is told that the lock is held after all.
func (h *canceller) markHeld() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = false
}
