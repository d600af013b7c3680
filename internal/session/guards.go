package session

import (
	"os"
	"sync"
	"time"

	"redlockrun/internal/runner"
)

// guards are the guards of a run, one for each start of the command, one after the other. A
// disarmed guard stays disarmed, because the number of its process group may belong to another
// group later.
type guards struct {
	keep []*os.File // what each of them holds open

	mu       sync.Mutex
	present  *runner.Guard // nil as PID 1
	deadline time.Time     // the last one that the guard got
}

// startAtOnce starts the first guard before anything else is done.
func (g *guards) startAtOnce() { g.present = runner.StartGuardAtOnce() }

// startHolding starts the first guard, which holds files open.
func (g *guards) startHolding(keep []*os.File) {
	g.present.Close()
	g.keep = keep
	g.present = runner.StartGuard(keep...)
}

// next ends the present guard and starts another one, which gets the same deadline.
func (g *guards) next() {
	g.present.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.present = runner.StartGuard(g.keep...)
	if !g.deadline.IsZero() {
		g.present.Extend(g.deadline)
	}
}

// extend tells the guard until when the command may live.
func (g *guards) extend(deadline time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deadline = deadline
	g.present.Extend(deadline)
}

// startError returns why there is no guard.
func (g *guards) startError() error { return g.present.Started() }

// needed reports whether the run has guards at all.
func (g *guards) needed() bool { return g.present != nil }

func (g *guards) close() { g.present.Close() }
