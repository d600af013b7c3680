package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/quorum"
)

// addDesk has those come who do what the plan's desk says: each of them is one more client.
func (w *world) addDesk() {
	for _, d := range w.attended() {
		name := fmt.Sprint("c", len(w.clients))
		c := &client{
			clientPlan: &clientPlan{}, number: len(w.clients), world: w, clock: new(boottime.Clock),
			draw:   drawOf(w.seed, name),
			chance: streamOf(w.seed, "%s acts", name), network: d.network, deed: d,
		}
		if d.kind == looksLast {
			w.last = c
			continue
		}
		w.clients = append(w.clients, c)
	}
}

// act does what is to be done at the desk.
func (c *client) act() {
	time.Sleep(time.Until(c.world.began.Add(c.deed.at)))
	switch c.deed.kind {
	case looks:
		c.visit(0).look()
	case pauses:
		if c.visit(0).change(lock.ActPause); c.deed.endless {
			time.Sleep(c.deed.length)
			c.resume()
		}
	case stopsAll:
		c.visit(0).change(lock.ActStop)
		time.Sleep(c.deed.length)
		c.resume() // whoever waits has a turn again
	default:
		c.visit(0).change(c.deed.event())
	}
}

// resume ends pauses, and is done again until that is known to be done, at all masters of a quorum: one that did
// not answer is named, and keeps the pause.
func (c *client) resume() {
	for n := 1; ; n++ {
		p := c.visit(n)
		if changed, err := p.change(lock.ActResume); err == nil && len(changed.Absent) == 0 || p.dead {
			return
		}
		time.Sleep(time.Second)
	}
}

// visit is one command, the n-th of the client.
func (c *client) visit(n int) *process {
	p := &process{client: c, number: n, run: c.runID(n), crashed: make(chan struct{})}
	c.begin(p)
	return p
}

func (p *process) inspection() lock.Inspection {
	return lock.Inspection{Timeout: p.client.world.timeout, Draw: p.client.draw}
}

// look reads the job.
func (p *process) look() (lock.Job, error) {
	p.tell(news{kind: reads})
	job, err := p.inspector().Job(context.Background(), jobName)
	p.tell(news{kind: hasRead, job: job, err: err})
	return job, err
}

func (p *process) inspector() lock.Inspector {
	return opened(ofKind(p.client.world, line.OpenInspector, quorum.OpenInspector)(p.servers(), p.inspection()))
}

func (p *process) operator() lock.Operator {
	return opened(ofKind(p.client.world, line.OpenOperator, quorum.OpenOperator)(p.servers(), p.inspection()))
}

// change does one thing to the job, as cmd/redlockrun does.
func (p *process) change(act lock.Act) (lock.ChangeResult, error) {
	d := p.client.deed
	defer func() { p.over = true }()
	c := lock.Change{
		Act: act, For: d.length, By: lock.Holder{Run: p.run, Host: fmt.Sprint("c", p.client.number), PID: 1, User: "o",
			Start: time.Now()},
		Reason: d.kind, ThenPause: d.kind == stopsAll,
	}
	if d.endless || c.ThenPause {
		c.For = lock.Forever
	}
	if act == lock.ActUnlock || d.kind == stopsRun {
		job, err := p.look()
		if c.Run = job.Holder.Run; err != nil || c.Run == "" {
			return lock.ChangeResult{}, errors.Join(errNobody, err)
		}
		c.OnlyEnded = d.kind == unlocks && !p.client.world.isGone(job.Holder)
	}
	p.tell(news{kind: actsNow, change: c})
	changed, err := p.operator().Change(context.Background(), jobName, c)
	p.tell(news{kind: acted, change: c, changed: changed, err: err})
	return changed, err
}

var errNobody = errors.New("nobody has the lock")

// isGone reports whether the process that had the lock, and its command, are no more: its host could tell.
func (w *world) isGone(h lock.Holder) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.clients {
		if p := c.process; p != nil && h.Host == fmt.Sprint("c", c.number) {
			return p.number != h.PID-firstPID || p.over
		}
	}
	return false
}
