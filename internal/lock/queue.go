package lock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"redlockrun/internal/boottime"
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

	// The first frontRow in line look when the lease they wait for could have
	// ended, one after the other: lookLate after it, and rankLate for each place.
	frontRow = 3
	lookLate = 20 * time.Millisecond
	rankLate = 150 * time.Millisecond

	// remembered is for how long a waiter counts as one that the server should know.
	remembered = 12 * time.Second
)

// errLimit is why a wait ended that has used up Wait.Limit.
var errLimit = errors.New("waited for as long as allowed")

// A sighting is what a waiter last saw of the lease that it waits for. Should
// the server lose its data, the waiter still honours it.
type sighting struct {
	record string
	fence  int64
	until  time.Time // zero: it never ends by itself, or none was seen
}

func (s sighting) left() time.Duration {
	if s.until.IsZero() {
		return 0
	}
	return max(0, boottime.Until(s.until))
}

// A waiter is an acquisition that stands in line.
type waiter struct {
	*acquisition
	ears   *subscription // nil: not connected
	heard  bool          // the ears have heard something since they were connected or the last look
	chosen bool          // the lock is said to be this run's
	busy   *HeldError    // the last answer
	outage error         // why the last try had no answer; nil if it had one
	fails  int           // tries without success since the last good one
	placed time.Time     // when the server last knew this waiter; zero: never
	next   time.Time     // when to look again
}

// line waits in line for a lock that is busy, at most until the limit, and
// returns like Acquire. When it returns no lease, this run is out of line.
func (a *acquisition) line(ctx context.Context, busy *HeldError) (Lease, error) {
	if err := announce(a.req, busy); err != nil {
		return nil, err
	}
	limited := ctx
	if a.req.Wait.Limit != Forever {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, a.req.Wait.Limit, errLimit)
		defer cancel()
	}
	w := &waiter{acquisition: a, busy: busy}
	confirmStep() // now, that a hand-over does not wait for the texts to be put together
	releaseStep()
	lease, err := w.stand(limited)
	if lease != nil {
		a.parting.Go(w.unsubscribe) // nobody has to wait for that
		return lease, nil
	}
	w.unsubscribe()
	gone := a.giveUp(ctx)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case gone == nil:
		return nil, w.busy
	case w.outage != nil:
		return nil, w.outage
	}
	return nil, a.unavailable(gone)
}

// stand looks and sleeps in turn. It returns no error when ctx has ended.
func (w *waiter) stand(ctx context.Context) (Lease, error) {
	for ctx.Err() == nil {
		lease, err := w.turn(ctx)
		var unanswered *UnavailableError
		switch {
		case lease != nil:
			return lease, nil
		case errors.As(err, &unanswered) && (!unanswered.Denied || !w.placed.IsZero()):
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
	w.outage = err
	w.again()
	announce(w.req, err)
}

// again lets the next look come soon, and later each time.
func (w *waiter) again() {
	w.next = boottime.Now().Add(jitter(50 * time.Millisecond << min(w.fails, 5)))
	w.fails++
}

// turn subscribes if need be and looks once, or twice if that takes the lock.
func (w *waiter) turn(ctx context.Context) (Lease, error) {
	limited, cancel := context.WithTimeout(ctx, min(w.req.Timeout, w.req.Timeout/4<<min(w.fails, 4)))
	defer cancel()
	if w.ears == nil {
		ears, err := w.subscribe(limited)
		if err != nil {
			return nil, w.unavailable(err)
		}
		w.ears = ears
	}
	for {
		sent := boottime.Now()
		ask := w.look
		if w.chosen {
			ask = w.confirm
		}
		reply, err := ask(limited)
		if err != nil {
			return nil, w.unavailable(err)
		}
		switch number(reply, 0) {
		case 0:
			if w.chosen { // not any more
				w.chosen = false
				continue
			}
			return nil, w.stay(reply)
		case 1: // for 2 s: a look of a waiter that has died can take no more
			w.chosen = true
			continue
		case 3:
			w.see(reply)
			w.busy.Full = true
			return nil, w.busy
		}
		lease, err := w.interpret(reply, sent)
		if lease != nil && boottime.Now().Sub(sent) > w.req.Times.Try {
			w.haunted = true
			return nil, w.unavailable(tooSlow(w.req.Times.Try))
		}
		return lease, err
	}
}

// look is the acquire step, as a waiter.
func (w *waiter) look(ctx context.Context) ([]any, error) {
	w.lined = true
	w.heard = false
	holder := w.req.Holder
	holder.Start = time.Now() // a lock that is handed over is held from then on
	known := 0
	if w.placed.IsZero() && w.fails > 0 || !w.placed.IsZero() && boottime.Now().Sub(w.placed) < remembered {
		known = 1
	}
	return w.acquire(ctx, recordOf(holder).String(), milliseconds(w.req.Times.TTL), "wait",
		w.req.Wait.Max, milliseconds(w.saw.left()), w.saw.record, w.saw.fence, known)
}

// confirm asks for no more than whether the lock is this run's.
func (w *waiter) confirm(ctx context.Context) ([]any, error) {
	reply, _, err := w.step(ctx, confirmStep(), milliseconds(w.req.Times.TTL))
	if err != nil {
		w.chosen = false // look again
	}
	return reply, err
}

// see notes whose the lock is.
func (w *waiter) see(reply []any) {
	w.busy = w.heldError(reply)
	w.busy.Place = int(number(reply, 3))
	w.outage = nil
}

// stay notes a look that found the lock busy, and when to look again.
func (w *waiter) stay(reply []any) error {
	before := w.saw
	w.see(reply)
	now := boottime.Now()
	w.busy.Rejoined = number(reply, 5) == 1 && !w.placed.IsZero()
	w.placed = now
	w.next = now.Add(lookEvery + rand.N(lookSpread))
	if w.busy.Place == 0 {
		w.saw = before // out of line until that lease has ended
	}
	if w.busy.Place <= frontRow && !w.saw.until.IsZero() {
		w.lookBy(w.saw.until, max(w.busy.Place, 1))
	}
	if number(reply, 4) == 0 { // nobody listens, or at another server
		w.unsubscribe()
		w.again()
	} else {
		w.fails = 0
	}
	return announce(w.req, w.busy)
}

// lookBy looks again when a lease that ends at until could have ended.
func (w *waiter) lookBy(until time.Time, place int) {
	at := until.Add(lookLate + time.Duration(place-1)*rankLate)
	if at.Before(w.next) {
		w.next = at
	}
}

// sleep returns when it is time to look again, or ctx has ended.
func (w *waiter) sleep(ctx context.Context) {
	for {
		timer := time.NewTimer(boottime.Until(w.next))
		var messages <-chan string
		if w.ears != nil {
			messages = w.ears.messages
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			if w.ears != nil && !w.heard { // not even our own last look
				w.unsubscribe()
			}
			return
		case message, connected := <-messages:
			timer.Stop()
			if !connected {
				w.unsubscribe()
				return
			}
			if w.hear(message) {
				return
			}
		}
	}
}

// hear takes a message in, and reports whether to look at once.
func (w *waiter) hear(message string) bool {
	w.heard = true
	if message == "g" { // the lease that it waited for has ended as it should
		w.saw = sighting{}
		w.chosen = true
		return true
	}
	var ms int64
	var place int
	if n, _ := fmt.Sscanf(message, "n %d %d", &ms, &place); n == 2 {
		w.saw.until = boottime.Now().Add(time.Duration(ms) * time.Millisecond)
		w.lookBy(w.saw.until, place)
	}
	return false
}

func (w *waiter) subscribe(ctx context.Context) (*subscription, error) {
	ws := newWires(w.link.ctx, w.link.source, &late{off: true})
	c, err := w.link.connect(ctx, w.link.source, ws)
	if err != nil {
		return nil, err
	}
	return subscribe(ctx, c, ws, w.keys.channel(w.req.Holder.Run))
}

func (w *waiter) unsubscribe() {
	if w.ears != nil {
		w.ears.close()
		w.ears = nil
	}
}
