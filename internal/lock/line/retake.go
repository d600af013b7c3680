package line

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// Retake implements lock.Retaker.
func (l *redisLease) Retake(ctx context.Context) (time.Time, error) {
	a := l.acquisition
	sent := a.req.Clock.Now()
	reply, arrived, err := a.steps.retake.Eval(ctx, a.link, a.all, l.retakeArgs()...)
	if err != nil {
		a.unconfirmed = a.unconfirmed || arrived && !link.Answered(err) // the release leaves a tombstone
		return l.Until(), a.unavailable(err)
	}
	switch reply.kind {
	case retaken:
		l.unreplicated = a.servers.Replicas > 0
		return l.retaken(ctx, sent, reply.hold)
	case retakeTaken:
		return l.Until(), lock.ErrTaken
	case retakePaused:
		return l.Until(), lock.ErrPaused
	case retakeWrong:
		return l.Until(), a.unavailable(a.notLock(reply.key, reply.what))
	}
	return l.Until(), lock.ErrLost
}

// retakeArgs are what the retake step wants to be told.
func (l *redisLease) retakeArgs() []any {
	a := l.acquisition
	record := fmt.Sprintf(`%s,"fence":%d,"at":%d}`, a.record[:len(a.record)-1], l.fence, l.at)
	return a.args(lock.Milliseconds(a.req.Times.TTL), record, l.fence, link.Digit(a.req.IgnorePause))
}

// retaken begins the lease anew, as soon as enough replicas have the lock.
func (l *redisLease) retaken(ctx context.Context, sent time.Time, h hold) (time.Time, error) {
	if l.unreplicated {
		return l.renewReplicated(ctx)
	}
	if h.stop {
		l.markStopped()
	}
	return l.held(sent, h.now), nil
}

// renewReplicated renews a lease that counts only once enough replicas have it.
func (l *redisLease) renewReplicated(ctx context.Context) (time.Time, error) {
	a, wanted := l.acquisition, l.acquisition.servers.Replicas
	patience := max(a.req.Times.Try/2, time.Millisecond)
	n, err := a.acknowledged(ctx, l, wanted, patience)
	if errors.Is(err, lock.ErrLost) {
		return l.Until(), err
	}
	if err == nil && n < int64(wanted) {
		err = &fewReplicas{n, wanted, patience}
	}
	if err != nil {
		return l.Until(), a.unavailable(err)
	}
	l.unreplicated = false
	return l.Until(), nil
}

// A retakeReply is what the retake step answers:
//
//	{2, fence, at, now, list, stop}   this run has the lock
//	{0}                               another has it, or has had it
//	{3}                               the counter is lost: nobody knows
//	{4}                               this run has been given up
//	{5}                               a pause has it
//	{-1, n, type}                     the n-th key is something else
type retakeReply struct {
	kind retakeKind
	hold hold   // of retaken
	key  int    // of retakeWrong: which one, from 0 on
	what string // of retakeWrong: its type
}

type retakeKind int

const (
	_ retakeKind = iota
	retaken
	retakeTaken
	retakeRefused
	retakePaused
	retakeWrong
)

func readRetake(r *link.Reply) (t retakeReply) {
	switch r.Code() {
	case 2:
		t.kind, t.hold = retaken, readHold(r)
	case 0:
		t.kind = retakeTaken
	case 3, 4:
		t.kind = retakeRefused
	case 5:
		t.kind = retakePaused
	case -1:
		t.kind, t.key, t.what = retakeWrong, int(r.Number(1, wire.KeyCount)-1), r.Text()
	default:
		r.Strange()
	}
	return t
}
