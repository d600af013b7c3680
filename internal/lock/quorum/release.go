package quorum

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// A releaseRequest is what goes with a release to each master. The zero value takes back what
// was granted, as if it had not been.
type releaseRequest struct {
	lock.ReleaseRequest
	leased        bool          // the run had the lock by a majority
	fence         int64         // of the lease
	held          time.Duration // since the lock was taken
	vanished      []string      // the runs before it that are gone without a word
	allKnown      bool          // all masters have said whom they have in doubt
	vanishedTries []string      // the runs of its slot that are
	inFlight      bool          // a step of this run may still be under way there: it is to do nothing
}

func (l *quorumLease) releaseRequest(end lock.ReleaseRequest) releaseRequest {
	silence := slices.ContainsFunc(l.votes, func(v vote) bool { return v.kind != granted && v.kind != refused })
	return releaseRequest{
		ReleaseRequest: end, leased: true, fence: l.fence, held: l.Held(), vanished: vanished(l.votes),
		allKnown: !silence, vanishedTries: l.tries,
	}
}

// A releasing is one Release.
type releasing struct {
	tally
	lease    *quorumLease
	end      releaseRequest
	insists  bool               // it is for a slot, and is tried until ctx ends
	recorded int                // how many masters have noted how the run ended
	cancel   context.CancelFunc // of all that is sent
}

// Release goes to all masters. Those whose keys count are waited for, within
// ctx and two seconds, or half a second when a majority has answered: then what
// has been sent is enough, as a frozen server does it when it goes on. The
// others are waited for one more round trip. For a slot all are asked until a majority has
// noted how the run ended, or ctx ends; and so they are, for two seconds, of a run that has
// lost its lock and says how it ended.
func (l *quorumLease) Release(ctx context.Context, end lock.ReleaseRequest) error {
	l.stopWork()
	limit := lock.ReleaseLimit
	insists := l.election.req.Slot.Name != ""
	if insists {
		limit = lock.Forever
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := &releasing{lease: l, end: l.releaseRequest(end), insists: insists, cancel: cancel}
	r.tally = tally{answers: make([]keyAnswer, len(l.key)), no: len(l.key), taken: l.stolen}
	r.send(ctx)
	if !end.OutputFollows {
		l.closeMasters()
	}
	return r.outcome()
}

// send returns when nothing is under way any more.
func (r *releasing) send(ctx context.Context) {
	began := time.Now()
	others, cut := context.WithCancel(ctx)
	defer cut()
	cutSoon := func() { time.AfterFunc(lock.Clamp(leastTrip, time.Since(began), mostTrip), cut) }
	answers := make(chan keyAnswer, len(r.lease.key))
	for awaited := r.ask(ctx, others, answers); awaited > 0; awaited-- {
		if r.add(<-answers); r.enough() {
			cutSoon()
			limit := max(lateRelease, 8*time.Since(began))
			defer time.AfterFunc(limit, r.cancel).Stop()
		}
	}
	cutSoon()
	r.lease.work.Wait()
}

// ask sends the release to all masters, and returns how many answers there will be. rest is
// for those whose keys do not count.
func (r *releasing) ask(ctx, others context.Context, answers chan<- keyAnswer) (awaited int) {
	l := r.lease
	counts := make([]bool, len(l.key))
	for i := range l.key {
		if _, counts[i] = l.keyAt(i); counts[i] {
			r.no--
		}
	}
	lost := len(l.key)-r.no < l.need()
	for i := range l.key {
		switch {
		case counts[i]:
			awaited++
			l.work.Go(func() { answers <- r.releaseAt(ctx, i, true) })
		case r.insists || lost && r.end.Result.End != "":
			awaited++
			l.work.Go(func() { answers <- r.releaseAt(others, i, false) })
		default:
			l.work.Go(func() { r.giveUpAt(others, i) })
		}
	}
	return awaited
}

// add counts an answer; one of a key that does not count has been counted before.
func (r *releasing) add(a keyAnswer) {
	if a.err == nil {
		r.recorded++
	}
	if a.asked {
		r.tally.add(a)
		return
	}
	r.answers[a.from] = a
}

// enough reports whether the answers that are still to come are no matter.
func (r *releasing) enough() bool {
	need := r.lease.need()
	if r.insists || r.lost() {
		return r.recorded >= need
	}
	return r.yes >= need
}

// lost: no majority can say any more that the lock was ours.
func (r *releasing) lost() bool { return len(r.lease.key)-r.no < r.lease.need() }

// lateRelease is how long a master is waited for when a majority has released.
const lateRelease = 500 * time.Millisecond

// outcome says what a release has come to: whether the lock was ours, and, for a slot,
// whether it is known how the run ended.
func (r *releasing) outcome() error {
	need := r.lease.need()
	switch {
	case r.insists && r.recorded < need:
	case r.lost():
		return r.loss()
	case r.insists || r.yes >= need:
		return nil
	}
	return r.lease.unknown(&r.tally)
}

// releaseAt tries twice: the connection may have died without a word while the
// command ran. For a slot it tries until ctx ends.
func (r *releasing) releaseAt(ctx context.Context, at int, counts bool) keyAnswer {
	l := r.lease
	m, last, req := l.election.masters[at], l.lastTerm(), &l.election.req
	a, end := keyAnswer{from: at, asked: counts}, r.end
	end.inFlight = l.isUnconfirmed(at)
	ask := func(ctx context.Context) (err error) {
		a.owner, err = m.release(ctx, last, end)
		return err
	}
	unconfirmed := func(err error) bool { return !link.Answered(err) }
	var done bool
	if r.insists {
		done, a.err = lock.RetryUntilFinal(ctx, req.Times, req.Draw, ask, unconfirmed, link.Final)
	} else {
		done, a.err = lock.TryTwice(ctx, ask, unconfirmed)
	}
	if a.err == nil && done {
		a.owner = wire.Own // a try before has done it, and another may have the lock since
	}
	if a.err != nil || l.isUnconfirmed(at) {
		m.giveUp(ctx, last, end)
	}
	return a
}

func (r *releasing) giveUpAt(ctx context.Context, at int) {
	l := r.lease
	if l.isUnconfirmed(at) {
		l.election.masters[at].giveUp(ctx, l.lastTerm(), r.end)
		return
	}
	l.election.masters[at].release(ctx, l.lastTerm(), r.end)
}
