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
	doubt   *doubt          // nil while the lock is held
}

func newCanceller() *canceller {
	h := new(canceller)
	h.ctx, h.cancelContext = context.WithCancelCause(context.Background())
	return h
}

// setCommand makes c the command to stop; it stops c at once if the run was cancelled.
func (h *canceller) setCommand(c *runner.Command) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.command, h.pausing = c, false
	if stop, called := context.Cause(h.ctx).(*runner.StopError); called {
		c.Stop(stop)
	}
	if h.doubt != nil {
		c.StandStill(h.doubt.lost, h.doubt.lost.Kill)
	}
}

// beginPause begins a pause between two starts, unless the run is over or has lost its lock.
func (h *canceller) beginPause() (may bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pausing = !h.lost && h.ctx.Err() == nil
	return h.pausing
}

// cancelRun ends the run for e, and reports whether a command runs. A second call can only make it
// end sooner.
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

// markLost notes a loss with which a command may continue, and reports whether one does. During a
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

// markHeld notes that the lock is held again.
func (h *canceller) markHeld() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = false
}
