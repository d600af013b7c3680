package line

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// The waiting line. The lock's key is the truth, a message is only a hint to
// look at it: entering the line, looking and confirming a hand-over are all the
// acquire step, leaving is the release step.
const (
	// lookEvery is the least time between two looks of a parked waiter: more than the
	// 5 s that one command may cost, and with the spread less than the 5.5 s after
	// which a dead holder is succeeded. One that has not looked for 12 s is dead to
	// the scripts.
	lookEvery = 5200 * time.Millisecond

	// lookSpread keeps waiters that came together from looking together.
	lookSpread = 200 * time.Millisecond

	// pollEvery is the least time between two looks of a waiter that cannot be called.
	pollEvery = 400 * time.Millisecond

	// The first frontRow in line look when the lease they wait for could have
	// ended, one after the other: lookLate after it, and rankLate for each place.
	frontRow = 3
	lookLate = 20 * time.Millisecond
	rankLate = 150 * time.Millisecond
)

// errLimit is why a wait ended that has used up Wait.Limit.
var errLimit = errors.New("waited for as long as allowed")

// A waiter is an acquisition that stands in line.
type waiter struct {
	*acquisition
	subscriber subscriber
	reported   bool            // that it cannot be called
	handedOver bool            // the lock is said to be this run's
	busy       *lock.HeldError // the last answer
	outage     error           // what says most of why there is no answer; nil if there is one
	fails      int             // tries without an answer since the last one
	placed     bool            // it has been in line
	unreached  bool            // it could not be reached since its last look
	lookAt     time.Time       // when to look again
	pollAt     time.Time       // when to look again if it cannot be called
}

// waitInLine waits for its turn for a lock that is busy, at most until the limit, and
// returns like Acquire. When it returns no lease, this run is out of line.
func (a *acquisition) waitInLine(ctx context.Context, busy *lock.HeldError) (lock.Lease, error) {
	if err := lock.Announce(a.req, busy); err != nil {
		return nil, err
	}
	limited := ctx
	if a.req.Wait.Limit != lock.Forever {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, a.req.Wait.Limit, errLimit)
		defer cancel()
	}
	w := &waiter{acquisition: a, busy: busy}
	w.subscriber.subscribe, w.subscriber.clock, w.subscriber.patience = w.subscribe, a.req.Clock, a.req.RetryPolicy()
	lease, err := w.waitForTurn(limited)
	if lease != nil {
		a.closing.Go(w.subscriber.close) // nobody has to wait for that
		return lease, nil
	}
	w.subscriber.close()
	last, unanswered := a.giveUp(ctx)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case w.outage != nil && link.Final(w.outage): // it refuses, which is no contention
		return nil, w.outage
	case last != nil:
		last.Position = w.busy.Position
		return nil, last
	case unanswered == nil:
		w.busy.Since = time.Time{} // it has just been given back
		return nil, w.busy
	}
	return nil, lock.ClearerError(w.outage, a.unavailable(unanswered), false)
}

// waitForTurn looks and sleeps in turn. It returns no error when ctx has ended.
func (w *waiter) waitForTurn(ctx context.Context) (lock.Lease, error) {
	for ctx.Err() == nil {
		lease, err := w.turn(ctx)
		var unanswered *lock.UnavailableError
		switch {
		case lease != nil:
			return lease, nil
		case errors.As(err, &unanswered) && (!link.Final(err) || w.placed):
			w.failed(ctx, err)
		case err != nil:
			return nil, err
		}
		w.sleep(ctx)
	}
	return nil, nil
}

// failed notes a try without an answer.
func (w *waiter) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // it was cut short
	}
	w.outage, w.unreached = lock.ClearerError(w.outage, err, true), true
	w.subscriber.forgetFailures()
	// after an outage the line leaves whoever comes back 2 s
	w.lookAt = w.req.Clock.Now().Add(w.req.RetryPolicy().Delay(w.fails))
	w.pollAt = w.lookAt
	w.fails++
	lock.Announce(w.req, err)
}

// turn subscribes if need be and looks once, or twice if that takes the lock.
func (w *waiter) turn(ctx context.Context) (lock.Lease, error) {
	w.subscriber.open(ctx)
	limited, cancel := context.WithTimeout(ctx, w.req.RetryPolicy().Try(w.fails))
	defer cancel()
	for {
		lease, err := w.confirm(limited)
		if lease != nil || err != nil {
			return lease, err
		}
		sent := w.req.Clock.Now()
		reply, err := w.look(limited)
		if err != nil {
			return nil, w.unavailable(err)
		}
		switch reply.kind {
		case granted: // for 2 s: a look of a waiter that has died can take no more
			w.handedOver = true
			continue
		case refused, queued:
			return nil, w.stay(reply)
		case slotDone, exhausted: // it has left the line
			w.inLine = false
		case full:
			w.noteHolder(reply)
			w.busy.Full = true
			return nil, w.busy
		}
		return w.fastEnough(w.interpret(reply, sent))
	}
}

// fastEnough is a lease, unless it took longer to get than its renewals may.
func (w *waiter) fastEnough(lease lock.Lease, err error) (lock.Lease, error) {
	if l, ok := lease.(*redisLease); ok && w.req.Clock.Now().Sub(l.taken) > w.req.Times.Try {
		w.unconfirmed = true
		return nil, w.unavailable(lock.TooSlow(w.req.Times.Try))
	}
	return lease, err
}

// look is the acquire step, as a waiter.
func (w *waiter) look(ctx context.Context) (acquireReply, error) {
	w.inLine = true
	w.subscriber.beginLook()
	holder := w.req.Holder
	holder.Start = time.Now() // a lock that is handed over is held from then on
	record := wire.RecordOf(holder)
	record.Asked = w.asked
	w.record = record.String()
	return w.acquire(ctx, w.record, lock.Milliseconds(w.req.Times.TTL), w.subscriber.mode(), w.req.Wait.Max,
		w.req.Slot.Tries, link.Digit(w.req.IgnorePause))
}

// confirm takes the lock if it is said to be this run's, and asks for no more than whether
// it is. It returns neither lease nor error if the lock is not, or not any more.
func (w *waiter) confirm(ctx context.Context) (lock.Lease, error) {
	if !w.handedOver {
		return nil, nil
	}
	sent := w.req.Clock.Now()
	reply, _, err := w.steps.confirm.Eval(ctx, w.link, w.all, w.args(lock.Milliseconds(w.req.Times.TTL))...)
	switch {
	case err != nil:
		w.handedOver = false // look again
		return nil, w.unavailable(err)
	case reply.wrong:
		return nil, w.notLock(reply.key, reply.what)
	case !reply.ours:
		w.handedOver = false
		return nil, nil
	}
	return w.fastEnough(w.lease(reply.hold, sent), nil)
}

// noteHolder notes whose the lock is.
func (w *waiter) noteHolder(reply acquireReply) {
	w.busy = w.heldError(reply.busy)
	w.busy.Position = reply.position.place
	w.outage = nil
}

// stay notes a look that found the lock busy, and when to look again.
func (w *waiter) stay(reply acquireReply) error {
	before := w.busy.Holder.Run
	w.link.NoteNode()
	w.noteHolder(reply)
	w.busy.Rejoined = reply.position.joined && w.placed
	w.busy.Missed = w.busy.Rejoined && w.unreached && w.busy.Holder.Run != before
	w.placed, w.unreached, w.fails = true, false, 0
	now := w.req.Clock.Now()
	w.lookAt = now.Add(lookEvery + w.req.Draw.Below(lookSpread))
	w.pollAt = now.Add(pollEvery + w.req.Draw.Below(lookSpread))
	if w.busy.Position <= frontRow && w.busy.TTL >= 0 {
		w.lookBy(now.Add(soonest(w.busy)), w.busy.Position)
	}
	w.subscriber.noteListeners(reply.position.listeners)
	w.reportPolling()
	return lock.Announce(w.req, w.busy)
}

// soonest is after how long the lease that a look has found can end: a hand-over may be confirmed
// at once, and the ttl that begins then be shorter than the time for that.
func soonest(busy *lock.HeldError) time.Duration {
	if ttl := busy.Holder.TTL; ttl > 0 && busy.Holder.Ended.IsZero() {
		return min(busy.TTL, ttl)
	}
	return busy.TTL
}

// reportPolling says once that the waiter cannot be called, and why.
func (w *waiter) reportPolling() {
	if why := w.subscriber.unreachable(); why != nil && !w.reported && w.req.OnPolling != nil {
		w.reported = true
		w.req.OnPolling(w.unavailable(why))
	}
}

// lookBy looks again when a lease that ends at until could have ended.
func (w *waiter) lookBy(until time.Time, place int) {
	at := until.Add(lookLate + time.Duration(place-1)*rankLate)
	if at.Before(w.lookAt) {
		w.lookAt = at
	}
}

// nextLook is when to look again.
func (w *waiter) nextLook() time.Time {
	if !w.subscriber.works() && w.pollAt.Before(w.lookAt) {
		return w.pollAt
	}
	return w.lookAt
}

// sleep returns when it is time to look again, or ctx has ended.
func (w *waiter) sleep(ctx context.Context) {
	for {
		timer := time.NewTimer(w.req.Clock.Until(w.nextLook()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			if len(w.subscriber.messages()) > 0 { // they came before
				continue
			}
			w.subscriber.dropIfUseless()
			return
		case message, connected := <-w.subscriber.messages():
			timer.Stop()
			if !connected {
				w.unreached = true
				w.subscriber.disconnected()
				return
			}
			if w.receive(message) {
				return
			}
		}
	}
}

// receive takes a message in, and reports whether to look at once.
func (w *waiter) receive(message string) bool {
	w.subscriber.noteMessage()
	switch kind, _, _ := strings.Cut(message, " "); kind {
	case "g":
		w.handedOver = true
		return true
	case "d", "t": // its slot's work is done, or its tries are used up; whoever may publish can say so
		return true
	}
	var ms int64
	var place int
	if n, _ := fmt.Sscanf(message, "n %d %d", &ms, &place); n == 2 {
		w.lookBy(w.req.Clock.Now().Add(time.Duration(ms)*time.Millisecond), place)
	}
	return false
}

func (w *waiter) subscribe(ctx context.Context) (*link.Subscription, error) {
	return w.link.Subscribe(ctx, w.keys.Channel(w.req.Holder.Run))
}
