package simulation

import (
	"errors"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

// An ending is how a command has ended.
type ending struct {
	how    lock.How // "": redlockrun has died without a word
	status int
	lost   error // why its lock is lost

	attempts int
}

// A command is what runs under the lease, with who kills it: redlockrun and its guard.
type command struct {
	*process
	crashed <-chan struct{}
	halted  chan error
	guard   chan time.Time // when the guard kills
	late    time.Duration  // how late whoever kills gets the processor: at most half a margin
	obeys   time.Duration  // how long it takes to end by SIGTERM
	due     time.Time      // when the guard kills, as far as is known; zero: not yet
	loss    loss
}

// execute runs the command while the lease is kept. When it returns, no renewal is under way.
func (p *process) execute(lease lock.Lease) ending {
	c := &command{process: p, crashed: p.crashed, halted: make(chan error, 10), guard: make(chan time.Time, 1000)}
	times, chance := p.client.world.times, p.client.chance
	c.late = chance.between(0, times.Margin/2)
	c.obeys = pick(chance, 0, chance.between(0, times.Grace), 2*times.Grace+times.TTL)
	cfg := p.config()
	cfg.Halt = func(err error) { c.halted <- err }
	cfg.Observer = observer{c}
	cfg.Guard = func(at time.Time) { c.guard <- at }
	keeper := watchdog.New(lease, cfg)
	p.tell(news{kind: starts, lease: lease})
	keeper.Start()
	end := c.untilDone()
	p.tell(news{kind: ends, how: end.how, lost: end.lost})
	if stats := keeper.Stop(); stats.Lost != nil && end.lost == nil && p.tick.continues {
		end.lost = stats.Lost
	}
	return end
}

// run is the command from its start to its end, by itself as how says.
func (c *command) run(how lock.How) (end ending) {
	own := time.NewTimer(c.tick.runs)
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
			return ending{how: lock.Lost, status: 137, lost: watchdog.ErrLate}
		case err := <-c.halted:
			if end.how != "" {
				end = c.halt(err, own, kill)
			}
		case <-kill.C:
			return end
		case <-c.crashed:
			c.crashed, end = nil, ending{}
			own.Reset(c.tick.outlives)
		}
	}
}

// halt ends the command as redlockrun does: SIGTERM, and after the grace SIGKILL.
func (c *command) halt(err error, own, kill *time.Timer) ending {
	own.Reset(c.obeys)
	due := c.client.world.times.Grace
	var lost *watchdog.LostError
	if !errors.As(err, &lost) {
		kill.Reset(due + c.late)
		return ending{how: lock.Stopped, status: 143}
	}
	c.tell(news{kind: halts, lost: lost})
	kill.Reset(max(0, min(due, c.client.clock.Until(lost.Kill))) + c.late)
	return ending{how: lock.Lost, status: 76, lost: lost}
}

// An observer hears of an operator's stop.
type observer struct{ c *command }

func (o observer) StopAsked()                     { o.c.halted <- &lock.StoppedError{Name: jobName} }
func (observer) Failed(int, error, time.Duration) {}
func (observer) Recovered(int)                    {}

func statusOf(how lock.How) int {
	if how == lock.Ok {
		return 0
	}
	return 1
}
