package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redlockrun/internal/boottime"
)

// A redisStore keeps locks where one client of go-redis leads.
type redisStore struct {
	source *source
	cfg    OpenConfig
	ctx    context.Context // ends with Close
	end    context.CancelFunc
}

func newRedisStore(src *source, cfg OpenConfig) *redisStore {
	s := &redisStore{source: src, cfg: cfg}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

func (s *redisStore) Address() string { return s.source.address().String() }

// Close interrupts what is under way, for good.
func (s *redisStore) Close() error {
	s.end()
	return nil
}

// Acquire implements Store.
func (s *redisStore) Acquire(ctx context.Context, req Request) (Lease, error) {
	if err := req.complete(); err != nil {
		return nil, err
	}
	keys := keysOf(s.cfg.Prefix, req.Name, req.Holder.Run)
	a := &acquisition{req: req, link: s.source.newLink(s.ctx, keys.lock), keys: keys, record: recordOf(req.Holder).String()}
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
	a.link.settle() // what is still under way there finds the lock ours, or the tombstone
	return lease, nil
}

// await asks, and waits for a busy lock in line, or beside it if retries are wanted.
func (a *acquisition) await(ctx context.Context) (Lease, error) {
	if a.req.Wait.Limit <= 0 || a.req.Wait.Retries > 0 {
		return await(ctx, a.req, a.ask)
	}
	lease, err := a.ask(ctx, a.req.Timeout)
	var held *HeldError
	if errors.As(err, &held) {
		lease, err = a.line(ctx, held)
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return lease, err
}

// An acquisition is one Acquire: however often it asks, it asks for the same run.
type acquisition struct {
	req    Request
	keys   keys
	record string
	link   *link

	// haunted means that a request got no answer: it may still be under way, and
	// must find a tombstone when the lock has been released or given up.
	haunted bool

	lined   bool           // it may be in line
	given   bool           // it has given up
	parting sync.WaitGroup // what nobody has to wait for before the release
}

// ask asks until the store has answered or timeout is over. A lease that took
// longer to get than one try may take is begun anew: its renewals would be as slow.
func (a *acquisition) ask(ctx context.Context, timeout time.Duration) (Lease, error) {
	reserve := min(timeout/10, 500*time.Millisecond) // for giving up
	ctx, cancel := context.WithTimeout(ctx, timeout-reserve)
	defer cancel()
	var last error
	for try := 0; ; try++ {
		limit, cut := a.limit(ctx, timeout, try)
		sent := boottime.Now()
		reply, err := a.try(ctx, limit)
		if err == nil {
			lease, final := a.interpret(reply, sent)
			if lease == nil || boottime.Now().Sub(sent) <= a.req.Times.Try {
				return lease, final
			}
			a.haunted = true
			err = tooSlow(a.req.Times.Try)
		} else if final(err) {
			return nil, a.unavailable(err)
		}
		if last == nil || answered(err) || !cut && !answered(last) { // a refusal says more than silence
			last = err
		}
		delay := jitter(50 * time.Millisecond << min(try, 3))
		if deadline, _ := ctx.Deadline(); time.Until(deadline) <= delay || !pause(ctx, delay) {
			return nil, a.unavailable(last)
		}
	}
}

// limit is the time of one try: a quarter of the timeout, which allows for a
// fresh connection if this one is dead, then more, which allows for a slow store.
func (a *acquisition) limit(ctx context.Context, timeout time.Duration, try int) (limit time.Duration, cut bool) {
	limit = timeout / 4 << min(try, 4)
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	return min(limit, left), left < limit
}

func (a *acquisition) try(ctx context.Context, limit time.Duration) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return a.acquire(ctx, a.record, milliseconds(a.req.Times.TTL), "once")
}

// acquire makes the acquire step once.
func (a *acquisition) acquire(ctx context.Context, args ...any) ([]any, error) {
	reply, sent, err := a.step(ctx, acquireStep(), args...)
	a.haunted = a.haunted || sent && err != nil && !answered(err)
	return reply, err
}

// step makes one of the steps that know the line.
func (a *acquisition) step(ctx context.Context, script string, args ...any) (reply []any, sent bool, err error) {
	return a.link.eval(ctx, script, a.keys.all(), append([]any{a.req.Holder.Run}, args...)...)
}

func (a *acquisition) interpret(reply []any, sent time.Time) (Lease, error) {
	switch number(reply, 0) {
	case 1, 2:
		l := &redisLease{acquisition: a, fence: number(reply, 1), at: number(reply, 2), taken: sent}
		l.held(sent, number(reply, 3))
		a.link.met()
		return l, nil
	case 0:
		return nil, a.heldError(reply)
	case -1:
		return nil, a.notLock(int(number(reply, 1)-1), text(reply, 2))
	case -2:
		return nil, &NotLockError{Key: a.keys.fence, What: "a fence that is no number below 2^53"}
	}
	return nil, a.unavailable(fmt.Errorf("read reply: %v is not one of ours", reply))
}

// heldError is a busy answer, which ends with the server's clock.
func (a *acquisition) heldError(reply []any) *HeldError {
	left := number(reply, 1)
	e := &HeldError{Name: a.req.Name, Key: a.keys.lock, TTL: -1}
	e.Holder, e.Since = readRecord(text(reply, 2), number(reply, len(reply)-1))
	if left >= 0 {
		e.TTL = time.Duration(left) * time.Millisecond
	}
	return e
}

// notLock is the answer that the n-th key is of another type, which the user may not see.
func (a *acquisition) notLock(n int, kind string) *NotLockError {
	e := &NotLockError{Key: a.keys.all()[n], What: typeName(kind)}
	if kind == "" && (e.Key == a.keys.line || e.Key == a.keys.who) {
		e.What = "of another type"
	}
	return e
}

func (a *acquisition) unavailable(err error) error { return a.link.unavailable(err) }

// giveUp makes sure that no request of this acquisition can take the lock any
// more, and that it is out of line: on the connections where an acquire was sent
// a release follows it, and a tombstone in the store stops one that has gone
// astray. It takes as long as ask has reserved for it, and next to nothing after
// a signal. It returns an error if the store did not answer, and who has the lock
// if that was asked and somebody has.
func (a *acquisition) giveUp(ctx context.Context) (*HeldError, error) {
	defer a.link.close()
	if a.given || !a.haunted && !a.lined {
		return nil, nil
	}
	a.given = true
	limit := min(a.req.Timeout/10, 500*time.Millisecond)
	if a.lined {
		limit = time.Second // its answer tells busy from unanswered
	}
	if ctx.Err() != nil {
		limit = min(limit, 75*time.Millisecond)
	}
	if a.haunted {
		a.link.revoke(releaseStep(), a.keys.all(), a.req.Holder.Run, 0, tombstone, 1)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	reply, _, err := a.release(ctx, 0)
	if err != nil || number(reply, 0) != 0 {
		return nil, err
	}
	return a.heldError(reply), nil
}

// release asks for a release once. keep 0 deletes the lock.
func (a *acquisition) release(ctx context.Context, keep time.Duration) (reply []any, sent bool, err error) {
	var gone int64
	if a.haunted {
		gone = tombstone
	}
	return a.step(ctx, releaseStep(), milliseconds(keep), gone, a.lined)
}
