package doctor

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// rehearse plays a run and a waiter with the steps that all runs use. It takes a lock that no job
// has, renews it, waits for it, hands it over and releases it. It removes what is left.
func rehearse(ctx context.Context, e *Examination, visits []*visit) []Finding {
	if e.Store == nil || len(visits) == 0 {
		return nil
	}
	if why := e.unplayable(visits); why != "" {
		return []Finding{about("rehearsal", Unseen, "not tried: %s", why).to("fix the failures above first")}
	}
	name := trialName()
	first, second := e.part(name), e.part(name)
	defer e.removeTraces(context.WithoutCancel(ctx), visits, name, first, second)
	began := time.Now()
	if err := e.run(ctx, first, second); err != nil {
		silent := errors.As(err, new(*lock.UnavailableError))
		if silent && slices.ContainsFunc(e.failed(visits), isRights) {
			return nil // that has been said, with what to do
		}
		remedy := "check the server with redis-cli"
		if Status(e.failed(visits)) == 2 {
			remedy = "fix the failures above first"
		}
		return []Finding{about("rehearsal", Fail, "cannot take, renew, wait for and release a test lock: %v",
			err).
			to("%s", remedyOf(err, remedy))}
	}
	return []Finding{about("rehearsal", Ok, "took, renewed, waited for and released a test lock in %s",
		short(time.Since(began)))}
}

// unplayable is why no run could be made at all, as has been found before; "" if nothing is known.
// What is begun without the rights to end it would be left behind.
func (e *Examination) unplayable(visits []*visit) string {
	switch size := len(e.Servers.URLs); {
	case slices.ContainsFunc(e.failed(visits), isFatal):
		return "a right is missing that every run needs"
	case size > 1 && len(usable(visits)) < lock.Majority(size):
		return "no majority of the masters can be used"
	case size > 1 && len(e.unelectable(visits)) > 0:
		return "no majority of the masters votes"
	}
	return ""
}

func (e *Examination) failed(visits []*visit) (found []Finding) {
	for _, v := range visits {
		found = append(found, v.found...)
	}
	return found
}

func isRights(f Finding) bool { return f.Check == "rights" && (f.Result == Fail || f.Result == Warn) }

// rehearsed is the ttl of a rehearsal: if that is cut short, the lock is gone soon.
const rehearsed = time.Minute

// part is the request of one who takes part.
func (e *Examination) part(name string) lock.Request {
	host, _ := os.Hostname()
	return lock.Request{
		Name: name, Times: lock.TimesOf(rehearsed), Timeout: e.Limit,
		Holder: lock.Holder{Run: lock.NewRunID(), Host: host, PID: os.Getpid(), Command: "doctor", Start: time.Now()},
	}
}

func (e *Examination) run(ctx context.Context, first, second lock.Request) error {
	lease, err := e.Store.Acquire(ctx, first)
	if err != nil {
		return err
	}
	if _, err := lease.Renew(ctx); err != nil {
		return errors.Join(err, e.giveBack(ctx, lease))
	}
	waits, stop := context.WithCancel(ctx)
	defer stop()
	busy := make(chan struct{}, 1)
	second.Wait.Limit = e.Limit
	second.OnBusy = func(*lock.HeldError) {
		select {
		case busy <- struct{}{}:
		default:
		}
	}
	type answer struct {
		lock.Lease
		err error
	}
	waited := make(chan answer, 1)
	go func() {
		lease, err := e.Store.Acquire(waits, second)
		waited <- answer{lease, err}
	}()
	var a answer
	select {
	case <-busy:
		err = e.giveBack(ctx, lease)
		a = <-waited
	case a = <-waited: // it could not wait
		err = e.giveBack(ctx, lease)
	}
	if a.err != nil {
		return errors.Join(a.err, err)
	}
	return errors.Join(err, e.giveBack(ctx, a.Lease))
}

func (e *Examination) giveBack(ctx context.Context, lease lock.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lock.ReleaseLimit)
	defer cancel()
	return lease.Release(ctx, lock.ReleaseRequest{})
}

// removeTraces removes what lives longer than the lock: its fence, and what was refused.
func (e *Examination) removeTraces(ctx context.Context, visits []*visit, name string, parts ...lock.Request) {
	for _, v := range visits {
		if v.Role == Sentinel {
			continue
		}
		words := []any{"EVAL", "return redis.call('del', unpack(KEYS))", 0}
		for _, part := range parts {
			for _, key := range wire.KeysOf(v.Servers.Prefix, name, part.Holder.Run).All() {
				words = append(words, key)
			}
		}
		words[2] = len(words) - 3
		v.ask(ctx, words...) // a node of a Cluster that has not the slot sends on
	}
}
