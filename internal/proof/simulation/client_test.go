package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/quorum"
	"redlockrun/internal/watchdog"

	"github.com/oklog/ulid/v2"
)

// A client is a host with its crontab: what it runs, one after the other.
type client struct {
	*clientPlan
	number  int
	world   *world
	clock   *boottime.Clock
	draw    lock.Draw
	chance  stream
	network networkProfile
	wires   [mostServers]int       // how many there were to each machine
	still   time.Time              // its network stands still until then
	apart   [mostServers]time.Time // so does the way to one machine
	process *process               // the one that runs, or ran last; nil: none yet
	all     []*wire
	deed    *deed  // what is done here in place of a crontab
	gone    bool   // it runs nothing any more
	news    []news // for the referee; the world's mu's
}

// A process is one redlockrun.
type process struct {
	client    *client
	run       string // its id
	tick      tick
	number    int
	wires     []*wire
	crashed   chan struct{} // closed when it dies without a word
	dead      bool          // it has crashed
	over      bool          // it has ended
	disturbed bool          // a fault has met one of its connections
}

// live runs what the crontab says.
func (c *client) live() {
	defer func() { c.tell(news{kind: left, panic: recover()}) }()
	if c.deed != nil {
		c.act()
		return
	}
	for n, t := range c.ticks {
		time.Sleep(time.Until(c.world.began.Add(t.at)))
		p := &process{client: c, tick: t, number: n, run: c.runID(n), crashed: make(chan struct{})}
		c.begin(p)
		c.tell(news{kind: asks, process: p})
		p.live()
	}
}

// runID is the id of the n-th run: one that is drawn, so that a world can be had again.
func (c *client) runID(n int) string {
	var id ulid.ULID
	copy(id[:], fmt.Sprintf("%06d", n)) // in place of the time
	sum := digestOf(c.world.seed, fmt.Sprint("run ", c.number, n))
	copy(id[6:], sum[:])
	id[0] = 0
	return id.String()
}

// crash ends the process without a word: its connections end, or, with the host, do not.
func (p *process) crash(host bool) {
	p.client.world.note("c%d crashes, host: %v", p.client.number, host)
	p.dead, p.disturbed = true, true
	for _, x := range p.inOrder() {
		if host {
			x.stop(p.client.world.began.Add(never))
		} else if x.up.still.Before(time.Now().Add(never / 2)) {
			x.up.send("FIN", x.left)
		}
	}
	close(p.crashed)
}

// inOrder are the connections of a process, in an order that does not depend on which of those
// that began at one instant was first.
func (p *process) inOrder() []*wire {
	return slices.SortedFunc(slices.Values(p.wires), func(a, b *wire) int { return cmp.Compare(a.up.lane, b.up.lane) })
}

// live is what cmd/redlockrun does in a session.
func (p *process) live() {
	defer func() { p.over = true }()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case <-p.crashed:
			cancel(errCrashed)
		case <-ctx.Done():
		}
	}()
	store := p.open()
	defer store.Close()
	lease, err := p.acquire(ctx, store)
	if err != nil {
		p.tell(news{kind: refused, err: err})
		return
	}
	p.tell(news{kind: begins, lease: lease})
	end := p.execute(lease)
	if end.how == "" || p.dead {
		return
	}
	p.giveBack(lease, end)
}

var (
	errCrashed = errors.New("crashed")
	errSignal  = errors.New("signal")
)

func (p *process) open() lock.Store {
	store := opened(ofKind(p.client.world, line.Open, quorum.Open)(p.servers()))
	if p.client.world.permits > 0 {
		return p.withPermits(store)
	}
	return store
}

// ofKind is what a world's store is opened by: that of one server, or of a quorum.
func ofKind[T any](w *world, line, quorum T) T {
	if w.machines > 1 {
		return quorum
	}
	return line
}

func opened[T any](it T, err error) T {
	if err != nil {
		panic(err)
	}
	return it
}

func (p *process) servers() lock.Servers {
	w := p.client.world
	servers := lock.Servers{Prefix: lock.DefaultPrefix, Dial: p.dial, Durable: w.durable}
	for n := range w.machines {
		servers.URLs = append(servers.URLs, fmt.Sprintf("redis://s%d", n))
	}
	return servers
}

// acquire is a lease that is fresh enough to begin under.
func (p *process) acquire(ctx context.Context, store lock.Store) (lease lock.Lease, err error) {
	for n := range freshTries {
		if lease, err = p.acquireOnce(ctx, store, n); !errors.Is(err, lock.ErrLost) {
			return lease, err
		}
	}
	return nil, err
}

// freshTries is as in cmd/redlockrun.
const freshTries = 3

func (p *process) acquireOnce(ctx context.Context, store lock.Store, n int) (lock.Lease, error) {
	if n > 0 {
		p.run = p.client.runID(1000*n + p.number)
		p.tell(news{kind: asks, process: p})
	}
	if p.tick.giveUp > 0 {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer time.AfterFunc(p.tick.giveUp, func() { cancel(errSignal) }).Stop()
	}
	lease, err := store.Acquire(ctx, p.request())
	if err != nil {
		return nil, err
	}
	releaseRequest := lock.ReleaseRequest{}
	if err = watchdog.Freshen(ctx, lease, p.config()); err == nil && lease.StopAsked() {
		releaseRequest.Result = lock.RunResult{End: lock.EndStopped, Status: 143}
		err = &lock.StoppedError{Name: jobName}
	}
	if err != nil {
		p.release(lease, releaseRequest)
		return nil, err
	}
	return lease, nil
}

const jobName = "job"

func (p *process) request() lock.Request {
	c := p.client
	return lock.Request{
		Name: jobName, Times: c.world.times, Timeout: c.world.timeout, History: c.world.keeps,
		IgnorePause: p.tick.ignores,
		Holder: lock.Holder{
			Run: p.run, Host: fmt.Sprint("c", c.number), PID: firstPID + p.number, User: "u", Command: "job",
			Start: time.Now(),
			TTL:   c.world.times.TTL, Every: c.world.times.Renew,
		},
		Wait: p.tick.waits(), Slot: lock.Slot{Name: p.tick.slot, Tries: slotTries}, Clock: c.clock, Draw: c.draw,
	}
}

// firstPID is the process of a host's first run.
const firstPID = 1000

// slotTries is how many runs of a slot may fail.
const slotTries = 2

func (p *process) config() watchdog.Config {
	c := p.client
	return watchdog.Config{Times: c.world.times, Timeout: c.world.timeout, Continue: p.tick.continues, Clock: c.clock,
		Draw: c.draw}
}

// giveBack ends the lease as cmd/redlockrun does.
func (p *process) giveBack(lease lock.Lease, end ending) {
	result := lock.RunResult{End: end.how, Status: end.status, Attempts: end.attempts, Lost: end.lost != nil}
	releaseRequest := lock.ReleaseRequest{Result: result}
	if end.lost == nil {
		releaseRequest.Keep = max(0, p.tick.minHold-lease.Held())
	}
	p.tell(news{kind: releases, how: end.how, lost: end.lost, attempts: end.attempts})
	p.tell(news{kind: released, how: end.how, err: p.release(lease, releaseRequest)})
}

func (p *process) release(lease lock.Lease, end lock.ReleaseRequest) error {
	limit := lock.ReleaseLimit
	if p.tick.slot != "" && end.Result != (lock.RunResult{}) {
		limit = max(limit, p.client.clock.Until(lease.Until()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return lease.Release(ctx, end)
}

// begin makes p the process that runs.
func (c *client) begin(p *process) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.process = p
}
