package line

import (
	"context"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// A redisLease is a lock held in Redis.
type redisLease struct {
	acquisition *acquisition
	fence       int64
	at          int64 // when the lock was taken, ms of the server's clock

	mu    sync.Mutex
	until time.Time
	now   int64     // the server's clock at its last answer, ms
	asOf  time.Time // our clock at that moment
	taken time.Time // our clock when the lock was asked for
	stop  bool      // an operator wants the run to end

	unreplicated bool // it was taken back, and too few replicas have confirmed that; only for Renew and Retake
}

// held notes that the server has confirmed the lock, at now of its clock.
func (l *redisLease) held(sent time.Time, now int64) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.acquisition.req.Times
	l.until, l.now, l.asOf = t.End(sent), now, l.acquisition.req.Clock.Now()
	return l.until
}

func (l *redisLease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *redisLease) Fence() int64 { return l.fence }

func (l *redisLease) Held() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == 0 { // there are servers that tell scripts no time
		return l.acquisition.req.Clock.Now().Sub(l.taken)
	}
	return max(0, time.Duration(l.now-l.at)*time.Millisecond+l.acquisition.req.Clock.Now().Sub(l.asOf))
}

// StopAsked implements lock.Lease.
func (l *redisLease) StopAsked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stop
}

func (l *redisLease) markStopped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = true
}

// Instants implements lock.Lease.
func (l *redisLease) Instants() lock.Instants {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == 0 {
		return lock.Instants{}
	}
	return lock.Instants{
		Asked: time.UnixMilli(l.acquisition.asked), At: time.UnixMilli(l.at),
		Now: time.UnixMilli(l.now).Add(l.acquisition.req.Clock.Now().Sub(l.asOf)),
	}
}

func (l *redisLease) Renew(ctx context.Context) (time.Time, error) {
	if l.unreplicated {
		return l.renewReplicated(ctx)
	}
	a := l.acquisition
	sent := a.req.Clock.Now()
	reply, _, err := a.steps.renew.Eval(ctx, a.link, []string{a.keys.Lock}, a.req.Holder.Run,
		lock.Milliseconds(a.req.Times.TTL))
	if err != nil {
		return l.Until(), a.unavailable(err)
	}
	if reply.owner != wire.Own {
		return l.Until(), loss(reply.owner)
	}
	until := l.held(sent, reply.now)
	if reply.stop {
		l.markStopped()
	}
	a.link.LearnNodes(ctx)
	return until, nil
}

// loss is the answer of a step that the lock is not ours.
func loss(owner wire.Ownership) error {
	if owner == wire.Others {
		return lock.ErrTaken
	}
	return lock.ErrLost
}
