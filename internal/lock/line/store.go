// Package line keeps locks in one Redis, wherever a link finds it, with a line in which
// waiters are served in the order in which they came. Every step is one script, atomic in
// the server, which may be repeated.
package line

import (
	"context"
	"errors"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
)

// A redisStore keeps locks where one client of go-redis leads.
type redisStore struct {
	source *link.Source
	cfg    lock.Servers
	steps  steps           // for runs without a slot
	slot   steps           // for those with one
	ctx    context.Context // ends with Close
	end    context.CancelFunc
}

func newRedisStore(src *link.Source, cfg lock.Servers) *redisStore {
	s := &redisStore{source: src, cfg: cfg, steps: present, slot: slotted}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

func (s *redisStore) Address() string { return s.source.Address().String() }

// Close interrupts what is under way, for good.
func (s *redisStore) Close() error {
	s.end()
	return nil
}

// Acquire implements Store.
func (s *redisStore) Acquire(ctx context.Context, req lock.Request) (lock.Lease, error) {
	if err := req.Complete(); err != nil {
		return nil, err
	}
	keys := wire.KeysOf(s.cfg.Prefix, req.Name, req.Holder.Run)
	a := &acquisition{
		req: req, steps: s.steps, link: s.source.Link(s.ctx, keys.Lock, req.Clock, req.Draw),
		prefix: s.cfg.Prefix, keys: keys, all: keys.All(), record: wire.RecordOf(req.Holder).String(),
		holderWords: wire.HolderText(req.Holder, req.Slot),
		servers:     s.cfg,
	}
	if req.Slot.Name != "" {
		a.steps = s.slot
	}
	if !req.Since.IsZero() {
		a.asked = -lock.Milliseconds(req.Clock.Now().Sub(req.Since))
	}
	if !s.source.Address().IsCluster() {
		a.names = keys.Jobs
	}
	defer func() {
		if r := recover(); r != nil { // the caller's too, who is told what happens
			a.giveUp(ctx)
			panic(r)
		}
	}()
	lease, err := a.await(ctx)
	if err != nil {
		a.giveUp(ctx)
		return nil, err
	}
	if s.cfg.Replicas > 0 {
		if err := a.replicate(ctx, lease.(*redisLease), s.cfg); err != nil {
			return nil, err
		}
	}
	if lease.StopAsked() {
		return nil, stopped(ctx, lease, req)
	}
	s.list(a)
	a.link.DropInFlight() // what is still under way there finds the lock ours, or the tombstone
	return lease, nil
}

// stopped gives back the lease of a run that was told to stop before its command began.
func stopped(ctx context.Context, lease lock.Lease, req lock.Request) error {
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndStopped, Status: lock.StatusStopped}}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), req.Timeout)
	defer cancel()
	if err := lease.Release(ctx, end); err != nil && !errors.Is(err, lock.ErrLost) {
		return err
	}
	return &lock.StoppedError{Name: req.Name}
}

// await asks, and waits for a busy lock in line, or beside it if retries are wanted.
func (a *acquisition) await(ctx context.Context) (lock.Lease, error) {
	if a.req.Wait.Limit <= 0 || a.req.Wait.Retries > 0 {
		return lock.Await(ctx, a.req, a.ask)
	}
	lease, err := a.ask(ctx, a.req.Timeout)
	var held *lock.HeldError
	if errors.As(err, &held) {
		lease, err = a.waitInLine(ctx, held)
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return lease, err
}

// An acquisition is one Acquire: however often it asks, it asks for the same run.
type acquisition struct {
	req         lock.Request
	steps       steps
	prefix      string
	keys        wire.Keys
	all         []string // keys, as the steps want them
	record      string
	holderWords string // the words of the ledger that say who runs
	names       string // the set of names, if the steps can reach it
	servers     lock.Servers
	link        *link.Link

	asked int64 // when the run asked first, ms of the store's clock; 0 or less: so many ms ago, it has not answered yet

	// unconfirmed means that a request got no answer: it may still be under way, and
	// must find a tombstone when the lock has been released or given up.
	unconfirmed bool

	inLine  bool // it may be in line
	listing listing

	stopListing context.CancelFunc // nil: nothing is under way
	gaveUp      bool
	closing     sync.WaitGroup // what nobody has to wait for before the release
}

// ask asks until the store has answered or timeout is over. A lease that took
// longer to get than one try may take is begun anew: its renewals would be as slow.
func (a *acquisition) ask(ctx context.Context, timeout time.Duration) (lock.Lease, error) {
	p := lock.RetryPolicy{Total: timeout, Draw: a.req.Draw}
	ctx, cancel := context.WithTimeout(ctx, timeout-p.Reserve())
	defer cancel()
	var last error
	for try := 0; ; try++ {
		deadline, _ := ctx.Deadline()
		limit, left := p.Try(try), time.Until(deadline)
		sent := a.req.Clock.Now()
		reply, err := a.try(ctx, min(limit, left))
		if err == nil {
			lease, final := a.interpret(reply, sent)
			if lease == nil || a.req.Clock.Now().Sub(sent) <= a.req.Times.Try {
				return lease, final
			}
			a.unconfirmed = true
			err = lock.TooSlow(a.req.Times.Try)
		} else if link.Final(err) {
			return nil, a.unavailable(err)
		}
		last = lock.ClearerError(last, err, left >= limit || link.Answered(err))
		if delay := p.Delay(try); time.Until(deadline) <= delay || !lock.Sleep(ctx, delay) {
			return nil, a.unavailable(last)
		}
	}
}

func (a *acquisition) try(ctx context.Context, limit time.Duration) (acquireReply, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return a.acquire(ctx, a.record, lock.Milliseconds(a.req.Times.TTL), "once", 0,
		a.req.Slot.Tries, link.Digit(a.req.IgnorePause))
}

// acquire makes the acquire step once.
func (a *acquisition) acquire(ctx context.Context, args ...any) (acquireReply, error) {
	reply, sent, err := a.steps.acquire.Eval(ctx, a.link, a.all, a.args(args...)...)
	a.unconfirmed = a.unconfirmed || sent && err != nil && !link.Answered(err)
	if now := max(reply.busy.now, reply.hold.now); a.asked <= 0 && now > 0 {
		a.asked += now
	}
	return reply, err
}

// args are what the steps that know the line want to be told.
func (a *acquisition) args(more ...any) []any {
	by := step.Asker{
		Run: a.req.Holder.Run, History: a.req.History, MaxAge: a.req.MaxAge, Words: a.holderWords,
		Asked: a.asked, Slot: a.req.Slot.Name, Name: a.req.Listed(), Names: a.names,
	}
	return by.Args(more...)
}

func (a *acquisition) interpret(reply acquireReply, sent time.Time) (lock.Lease, error) {
	switch reply.kind {
	case granted, confirmed:
		return a.lease(reply.hold, sent), nil
	case refused, queued, full:
		return nil, a.heldError(reply.busy)
	case slotDone:
		return nil, a.slotDone(reply.slot)
	case exhausted:
		return nil, a.exhausted(reply.slot)
	case wrongKey:
		return nil, a.notLock(reply.key, reply.what)
	case wrongFence:
		return nil, &lock.NotLockError{Key: a.keys.Fence, What: "a fence that is not a number below 2^53"}
	case newer:
		return nil, &lock.NewerError{Name: a.req.Name, Protocol: reply.protocol}
	}
	return nil, a.unavailable(errRevoked)
}

// slotDone is the answer that the slot's work is done, as its state says.
func (a *acquisition) slotDone(state string) error {
	return &lock.SlotDoneError{Name: a.req.Name, Slot: a.req.Slot.Name, By: wire.ReadSlot(state).By}
}

// exhausted is the answer that the slot's tries are used up.
func (a *acquisition) exhausted(state string) error {
	return &lock.TriesExhaustedError{Name: a.req.Name, Slot: a.req.Slot.Name, Tries: a.req.Slot.Tries,
		Failures: wire.ReadSlot(state).Failures}
}

// errRevoked is why a run gets no lock that it has given up itself.
var errRevoked = errors.New("this run has given up")

func (a *acquisition) lease(h hold, sent time.Time) *redisLease {
	l := &redisLease{acquisition: a, fence: h.fence, at: h.at, taken: sent, stop: h.stop}
	l.held(sent, h.now)
	a.link.NoteNode()
	if a.listing == unlisted {
		a.listing = h.list
	}
	return l
}

func (a *acquisition) heldError(b busy) *lock.HeldError {
	e := &lock.HeldError{Name: a.req.Name, Key: a.keys.Lock, TTL: b.left}
	if e.Pause = wire.ReadPause(b.record); e.Pause == nil {
		e.Holder, e.Since = wire.ReadRecord(b.record, b.now, a.req.Clock)
	}
	return e
}

// notLock is the answer that the n-th key is of another type, which the user may not see.
func (a *acquisition) notLock(n int, kind string) *lock.NotLockError {
	e := &lock.NotLockError{Key: a.all[n], What: lock.TypeName(kind)}
	if kind == "" && e.Key != a.keys.Lock && e.Key != a.keys.Fence {
		e.What = "of another type"
	}
	return e
}

func (a *acquisition) unavailable(err error) error { return a.link.Unavailable(err) }

// giveUp makes sure that no request of this acquisition can take the lock any
// more, and that it is out of line: on the connections where an acquire was sent
// a release follows it, and a tombstone in the store stops one that has gone
// astray. It takes as long as ask has reserved for it, and next to nothing after
// a signal. It returns an error if the store did not answer, and who has the lock
// if that was asked and somebody has.
func (a *acquisition) giveUp(ctx context.Context) (*lock.HeldError, error) {
	defer a.link.Close()
	if a.gaveUp || !a.unconfirmed && !a.inLine {
		return nil, nil
	}
	a.gaveUp = true
	limit := a.req.RetryPolicy().Reserve()
	if a.inLine {
		limit = time.Second // its answer tells busy from unanswered
	}
	if ctx.Err() != nil {
		limit = min(limit, lock.GiveUpLimit)
	}
	if a.unconfirmed {
		a.link.Revoke(a.steps.release.Text(), a.all,
			a.releaseArgs(releaseRequest{}, wire.Tombstone.Milliseconds(), true)...)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	reply, _, err := a.release(ctx, releaseRequest{})
	if err != nil || reply.owner != wire.Others {
		return nil, err
	}
	return a.heldError(reply.busy), nil
}
