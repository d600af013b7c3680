package link

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"redlockrun/internal/lock"
)

// secondVote is how long a lone answer waits for a second opinion. With a healthy
// majority nobody waits for it.
const secondVote = 50 * time.Millisecond

// A vote is what one of several servers says of where the lock lives.
type vote struct {
	from  string // host:port of who says so
	addr  string // host:port
	epoch int64  // the later of two configurations has the larger one; 0 if unknown
	err   error
}

// locate asks all hosts at once where the lock lives, and returns as soon as
// more than half of them agree. When some are silent or of another opinion, it
// takes, a moment after the first answer, what most have said so far, and of
// two equals the later configuration. Whoever is silent then is not waited for.
//
// Its error is a *nowhereError.
func locate(ctx context.Context, hosts []string, ask func(ctx context.Context, host string) vote) (string, error) {
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opinions := make(chan vote, len(hosts))
	for _, host := range hosts {
		asking.Go(func() { opinions <- ask(ctx, host) })
	}
	var b tally
	var late <-chan time.Time
	for range hosts {
		select {
		case o := <-opinions:
			if b.add(o) >= lock.Majority(len(hosts)) {
				return o.addr, nil
			}
			if late == nil && o.err == nil {
				late = time.After(secondVote)
			}
		case <-late:
			return b.winner()
		}
	}
	return b.winner()
}

// A tally is what has been said so far.
type tally struct {
	sound   []vote
	unsound []vote
}

// add returns how many are of that opinion now.
func (b *tally) add(o vote) int {
	if o.err != nil {
		b.unsound = append(b.unsound, o)
		return 0
	}
	b.sound = append(b.sound, o)
	return b.votes(o.addr)
}

func (b *tally) votes(addr string) (n int) {
	for _, o := range b.sound {
		if o.addr == addr {
			n++
		}
	}
	return n
}

func (b *tally) winner() (string, error) {
	if len(b.sound) == 0 {
		slices.SortFunc(b.unsound, func(x, y vote) int { return strings.Compare(x.from, y.from) })
		return "", &nowhereError{b.unsound}
	}
	best := b.sound[0]
	for _, o := range b.sound[1:] {
		more := b.votes(o.addr) - b.votes(best.addr)
		if more > 0 || more == 0 && o.epoch > best.epoch {
			best = o
		}
	}
	return best.addr, nil
}

// A nowhereError says that none of several servers could tell where the lock
// lives, and why. The opinions are ordered by who has them.
type nowhereError struct{ votes []vote }

func (e *nowhereError) Error() string { return "find node of lock: no node knows it" }

func (e *nowhereError) Unwrap() (errs []error) {
	for _, o := range e.votes {
		errs = append(errs, o.err)
	}
	return errs
}

// say is what they say, once if it is the same.
func (e *nowhereError) say(one func(error) string) string {
	var said []string
	same := true
	for _, o := range e.votes {
		text := one(o.err)
		same = same && text == one(e.votes[0].err)
		said = append(said, o.from+": "+text)
	}
	if same {
		return one(e.votes[0].err)
	}
	return strings.Join(said, "; ")
}

// final reports whether all have answered that there is no such master.
func (e *nowhereError) final() bool {
	for _, o := range e.votes {
		if !errors.Is(o.err, lock.ErrNoSuchMaster) {
			return false
		}
	}
	return true
}
