package line

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
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
	errNoMessages  = errors.New("PUBLISH is not known there, or not allowed")
	errUncounted   = errors.New("PUBLISH does not count its receivers")
	errUndelivered = errors.New("messages do not arrive")
	errCutOff      = errors.New("subscriptions are cut off at once")
)

// A subscriber is how a waiter is called: by a subscription, while there is one that
// works. It works if the server counts it and the ping of the last look has come:
// there are servers and proxies that know no subscriptions, do not count them,
// or lose what goes to them. A waiter that is not called looks more often.
type subscriber struct {
	subscribe func(context.Context) (*link.Subscription, error)
	clock     *boottime.Clock
	patience  lock.RetryPolicy

	sub      *link.Subscription // nil: none
	since    time.Time          // when it was made
	counted  bool               // at the last look
	pingDue  bool               // the last look was answered: its ping must come
	received bool               // something has come since the last look
	worked   bool               // it has worked

	failures int       // subscriptions in a row that did not work
	reason   error     // why the last one did not; nil if it does
	retryAt  time.Time // when to try again
}

func (s *subscriber) works() bool { return s.sub != nil && s.counted && s.received }

// unreachable is why no subscription works here; nil if one does, or may.
func (s *subscriber) unreachable() error {
	if s.failures < 2 && !(s.failures == 1 && s.received && !s.counted) {
		return nil
	}
	return s.reason
}

// open subscribes, if it is time to.
func (s *subscriber) open(ctx context.Context) {
	if s.sub != nil || s.clock.Now().Before(s.retryAt) {
		return
	}
	limited, cancel := context.WithTimeout(ctx, s.patience.Try(min(s.failures, 1)))
	defer cancel()
	sub, err := s.subscribe(limited)
	switch {
	case err == nil:
		s.sub, s.since, s.counted, s.received, s.worked = sub, s.clock.Now(), false, false, false
	case ctx.Err() != nil: // it was cut short
	case isUnsupported(err):
		s.unsupported(err)
	default:
		s.failed(err)
	}
}

// mode is how a look says whether it can be called.
func (s *subscriber) mode() string {
	if s.sub == nil {
		return "poll"
	}
	return "wait"
}

// noteListeners takes in how many connections listened for this run at a look.
func (s *subscriber) noteListeners(listeners int64) {
	s.pingDue, s.counted = true, listeners > 0
	if listeners < 0 {
		s.unsupported(errNoMessages)
	}
}

// beginLook comes before a look.
func (s *subscriber) beginLook() { s.pingDue, s.received = false, false }

// noteMessage takes in that a message has come.
func (s *subscriber) noteMessage() {
	s.received = true
	s.worked = s.worked || s.works()
}

// dropIfUseless gives a subscription up that has not worked since the last look; of a look
// that was not answered nobody knows. One that is not counted may be at another
// server than the lock: if the next is not counted either, it is of some use all
// the same.
func (s *subscriber) dropIfUseless() {
	switch {
	case s.sub == nil || !s.pingDue:
	case !s.received:
		s.failed(errUndelivered)
	case !s.counted && s.failures == 0:
		s.failed(errUncounted)
	}
}

// disconnected takes in that the connection has ended.
func (s *subscriber) disconnected() {
	if s.worked && s.clock.Now().Sub(s.since) >= steady {
		s.close()
		s.failures = 0
		return
	}
	s.failed(errCutOff)
}

// failed lets the next try come soon, and much later if that fails too.
func (s *subscriber) failed(why error) {
	s.close()
	s.reason = why
	delay := firstRetry
	if s.failures > 0 {
		delay = laterRetry.At(s.failures - 1)
	}
	s.retryAt = s.clock.Now().Add(s.patience.Draw.Jitter(delay))
	s.failures++
}

// unsupported notes that subscriptions do not work here for a reason that will stay.
func (s *subscriber) unsupported(why error) {
	s.failed(why)
	s.failures = max(s.failures, 2)
	s.retryAt = s.clock.Now().Add(longestRetry)
}

// forgetFailures is for what failed in an outage.
func (s *subscriber) forgetFailures() { s.failures, s.reason, s.retryAt = 0, nil, time.Time{} }

func (s *subscriber) messages() <-chan string {
	if s.sub == nil {
		return nil
	}
	return s.sub.Messages
}

func (s *subscriber) close() {
	if s.sub != nil {
		s.sub.Close()
		s.sub = nil
	}
}

// isUnsupported reports whether a server has refused a subscription for good.
func isUnsupported(err error) bool {
	var refusal *lock.Refusal
	return errors.As(err, &refusal) && (refusal.Code == lock.NOCOMMAND || refusal.Code == "NOPERM")
}
