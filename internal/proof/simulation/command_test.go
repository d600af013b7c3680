package simulation

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

// An ending is how a command has ended.
type ending struct {
	after  time.Duration // since redlockrun was to end it
	how    lock.EndKind  // "": redlockrun has died without a word
	status int
	lost   error // why its lock is lost

	attempts int
}

// A command is what runs under the lease, with who kills it: redlockrun and its guard.
type command struct {
	*process
	crashed   <-chan struct{}
	halted    chan error
	guard     chan time.Time // when the guard kills
	late      time.Duration  // how late whoever kills gets the processor: at most half a margin
	obeys     time.Duration  // how long it takes to end by SIGTERM
	due       time.Time      // when the guard kills, as far as is known; zero: not yet
	recovered int            // tries that failed before one that did not
	alone     bool           // somebody has killed the guard: redlockrun has to do without
	loss      loss
}

// errGuard is why a command ended that its guard has killed, though redlockrun was there.
var errGuard = errors.New("killed by the guard")

// execute runs the command while the lease is kept. When it returns, no renewal is under way.
func (p *process) execute(lease lock.Lease) ending {
	c := &command{process: p, crashed: p.crashed, halted: make(chan error, 10), guard: make(chan time.Time, 1000)}
	times, chance := p.client.world.times, p.client.chance
	c.late = chance.between(0, times.Margin/2)
	c.obeys = pick(chance, 0, chance.between(0, times.Grace), 2*times.Grace+times.TTL)
	cfg := p.config()
	cfg.Cancel = c.hears
	cfg.Observer = observer{c}
	c.alone = streamOf(p.client.world.seed, "guard of %s", p.run).chance(0.2)
	cfg.Guard = func(at time.Time) {
		if !c.alone {
			c.guard <- at
		}
	}
	watched := &watched{Lease: lease}
	keeper := watchdog.New(watched, cfg)
	p.tell(news{kind: starts, lease: lease})
	keeper.Start()
	end := c.untilDone()
	p.tell(news{kind: ends, how: end.how, lost: end.lost, after: end.after})
	stats := keeper.Stop()
	p.tell(news{kind: kept, lost: end.lost, tries: stats.Failed - c.recovered, asking: watched.asking.Load() > 0})
	if stats.Lost != nil && end.lost == nil && p.tick.continues {
		end.lost = stats.Lost
	}
	return end
}

// A watched lease knows whether it is asked to be renewed.
type watched struct {
	lock.Lease
	asking atomic.Int32
}

func (w *watched) Renew(ctx context.Context) (time.Time, error) {
	w.asking.Add(1)
	defer w.asking.Add(-1)
	return w.Lease.Renew(ctx)
}

// settling is how long it takes until a command hears that it is to end: what the other masters of a quorum answer at
// that
// instant has been taken in by then, so that it happens again in the same order.
const settling = time.Microsecond

// hears has the command hear that it is to end, and why.
func (c *command) hears(err error) { time.AfterFunc(settling, func() { c.halted <- err }) }

// run is the command from its start to its end, by itself as how says.
func (c *command) run(how lock.EndKind) (end ending) {
	own := time.NewTimer(c.tick.runs)
	told := time.Now()
	defer func() { end.after = time.Since(told) }()
	kill, guard := time.NewTimer(forgetful), time.NewTimer(forgetful)
	defer own.Stop()
	defer kill.Stop()
	defer guard.Stop()
	if !c.due.IsZero() {
		guard.Reset(max(0, c.client.clock.Until(c.due)) + c.late)
	}
	end = ending{how: how, status: statusOf(how)}
	for {
		select {
		case <-own.C:
			return end
		case c.due = <-c.guard:
			guard.Reset(max(0, c.client.clock.Until(c.due)) + c.late)
		case <-guard.C:
			if end.how == "" {
				return end
			}
			return ending{how: lock.EndLost, status: 137, lost: errGuard}
		case err := <-c.halted:
			if end.how != "" {
				end, told = c.halt(err, own, kill), time.Now()
			}
		case <-kill.C:
			return end
		case <-c.crashed:
			c.crashed, end = nil, ending{}
			own.Reset(c.outlives())
		}
	}
}

// outlives is how long the command lives on when redlockrun has died.
func (c *command) outlives() time.Duration {
	if c.alone {
		return 0 // two that die at once are more than the contract allows for
	}
	return c.tick.outlives
}

// halt ends the command as redlockrun does: SIGTERM, and after the grace SIGKILL.
func (c *command) halt(err error, own, kill *time.Timer) ending {
	own.Reset(c.obeys)
	due := c.client.world.times.Grace
	var lost *watchdog.LostError
	if !errors.As(err, &lost) {
		kill.Reset(due + c.late)
		return ending{how: lock.EndStopped, status: 143}
	}
	c.tell(news{kind: halts, lost: lost})
	kill.Reset(max(0, min(due, c.client.clock.Until(lost.Kill))) + c.late)
	return ending{how: lock.EndLost, status: 76, lost: lost}
}

// An observer hears of an operator's stop.
type observer struct{ c *command }

func (o observer) StopAsked() {
	o.c.tell(news{kind: isStopped})
	o.c.hears(&lock.StoppedError{Name: jobName})
}
func (observer) Failed(int, error, time.Duration) {}
func (o observer) Recovered(tries int)            { o.c.recovered += tries }

func statusOf(how lock.EndKind) int {
	if how == lock.EndOk {
		return 0
	}
	return 1
}
