package line

import (
	"context"
	"errors"
	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"time"
)

const (
	// Between two tries to be called there is a moment, as long as it can have been
	// chance that one failed, then a while that doubles.
	firstRetry   = 50 * time.Millisecond
	longestRetry = time.Minute

	// steady is how long a subscription must have worked for the next one to be
	// tried without a pause.
	steady = time.Second
)

// laterRetry are the pauses after a second try that failed.
var laterRetry = lock.Backoff{First: 5 * time.Second, Most: longestRetry}

// Why a waiter is not called.
var (
	errNoMessages = errors.New("PUBLISH is not known there, or not allowed")
	errUncounted  = errors.New("PUBLISH does not count its receivers")
	errUnheard    = errors.New("messages do not arrive")
	errCutOff     = errors.New("subscriptions are cut off at once")
)

// Ears are what a waiter is called by: a subscription, while there is one that
// works. It works if the server counts it and the ping of the last look has come:
// there are servers and proxies that know no subscriptions, do not count them,
// or lose what goes to them. A waiter that is not called looks more often.
type ears struct {
	subscribe func(context.Context) (*link.Subscription, error)
	patience  lock.Patience

	sub     *link.Subscription // nil: none
	since   time.Time          // when it was made
	counted bool               // at the last look
	asked   bool               // the last look was answered: its ping must come
	heard   bool               // something has come since the last look
	proved  bool               // it has worked

	fails int       // subscriptions in a row that did not work
	why   error     // why the last one did not; nil if it does
	retry time.Time // when to try again
}

func (e *ears) works() bool { return e.sub != nil && e.counted && e.heard }

// hopeless is why no subscription works here; nil if one does, or may.
func (e *ears) hopeless() error {
	if e.fails < 2 && !(e.fails == 1 && e.heard && !e.counted) {
		return nil
	}
	return e.why
}

// open subscribes, if it is time to.
func (e *ears) open(ctx context.Context) {
	if e.sub != nil || boottime.Now().Before(e.retry) {
		return
	}
	limited, cancel := context.WithTimeout(ctx, e.patience.Try(min(e.fails, 1)))
	defer cancel()
	sub, err := e.subscribe(limited)
	switch {
	case err == nil:
		e.sub, e.since, e.counted, e.heard, e.proved = sub, boottime.Now(), false, false, false
	case ctx.Err() != nil: // it was cut short
	case lacking(err):
		e.lack(err)
	default:
		e.fail(err)
	}
}

// mode is how a look says whether it can be called.
func (e *ears) mode() string {
	if e.sub == nil {
		return "deaf"
	}
	return "wait"
}

// told takes in how many listened at a look.
func (e *ears) told(listeners int64) {
	e.asked, e.counted = true, listeners > 0
	if listeners < 0 {
		e.lack(errNoMessages)
	}
}

// look begins a look.
func (e *ears) look() { e.asked, e.heard = false, false }

// hear takes in that a message has come.
func (e *ears) hear() {
	e.heard = true
	e.proved = e.proved || e.works()
}

// judge gives a subscription up that has not worked since the last look; of a look
// that was not answered nobody knows. One that is not counted may be at another
// server than the lock: if the next is not counted either, it is of some use all
// the same.
func (e *ears) judge() {
	switch {
	case e.sub == nil || !e.asked:
	case !e.heard:
		e.fail(errUnheard)
	case !e.counted && e.fails == 0:
		e.fail(errUncounted)
	}
}

// ended takes in that the connection has ended.
func (e *ears) ended() {
	if e.proved && boottime.Now().Sub(e.since) >= steady {
		e.close()
		e.fails = 0
		return
	}
	e.fail(errCutOff)
}

// fail lets the next try come soon, and much later if that fails too.
func (e *ears) fail(why error) {
	e.close()
	e.why = why
	delay := firstRetry
	if e.fails > 0 {
		delay = laterRetry.At(e.fails - 1)
	}
	e.retry = boottime.Now().Add(e.patience.Draw.Jitter(delay))
	e.fails++
}

// lack notes that subscriptions do not work here for a reason that will stay.
func (e *ears) lack(why error) {
	e.fail(why)
	e.fails = max(e.fails, 2)
	e.retry = boottime.Now().Add(longestRetry)
}

// forgive forgets what failed: it was an outage.
func (e *ears) forgive() { e.fails, e.why, e.retry = 0, nil, time.Time{} }

func (e *ears) messages() <-chan string {
	if e.sub == nil {
		return nil
	}
	return e.sub.Messages
}

func (e *ears) close() {
	if e.sub != nil {
		e.sub.Close()
		e.sub = nil
	}
}

// lacking reports whether a server has refused a subscription for good.
func lacking(err error) bool {
	var refusal *lock.Refusal
	return errors.As(err, &refusal) && (refusal.Code == lock.NOCOMMAND || refusal.Code == "NOPERM")
}
