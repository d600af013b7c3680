package quorum

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// A parting is what goes with a release to each master. The zero value takes back what
// was granted, as if it had not been.
type parting struct {
	lock.ReleaseRequest
	leased   bool          // the run had the lock by a majority
	fence    int64         // of the lease
	held     time.Duration // since the lock was taken
	vanished []string      // the runs before it that are gone without a word
	heard    bool          // all masters have said whom they have in doubt
	tries    []string      // the runs of its slot that are
	astray   bool          // a step of this run may still be under way there: it is to do nothing
}

func (l *quorumLease) parting(end lock.ReleaseRequest) parting {
	silence := slices.ContainsFunc(l.votes, func(v vote) bool { return v.verdict != granted && v.verdict != refused })
	return parting{
		ReleaseRequest: end, leased: true, fence: l.fence, held: l.Held(), vanished: vanished(l.votes), heard: !silence, tries: l.tries,
	}
}

// A returning is one Release.
type returning struct {
	tally
	lease   *quorumLease
	end     parting
	insists bool               // it is for a slot, and is tried until ctx ends
	told    int                // how many masters have noted how the run ended
	cancel  context.CancelFunc // of all that is sent
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
	r := &returning{lease: l, end: l.parting(end), insists: insists, cancel: cancel}
	r.tally = tally{answers: make([]keyAnswer, len(l.key)), no: len(l.key), taken: l.stolen}
	r.send(ctx)
	if !end.OutputFollows {
		l.closeMasters()
	}
	return r.outcome()
}

// send returns when nothing is under way any more.
func (r *returning) send(ctx context.Context) {
	began := time.Now()
	rest, cut := context.WithCancel(ctx)
	defer cut()
	cutSoon := func() { time.AfterFunc(lock.Clamp(leastTrip, time.Since(began), mostTrip), cut) }
	answers := make(chan keyAnswer, len(r.lease.key))
	for awaited := r.ask(ctx, rest, answers); awaited > 0; awaited-- {
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
func (r *returning) ask(ctx, rest context.Context, answers chan<- keyAnswer) (awaited int) {
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
			l.work.Go(func() { answers <- r.releaseAt(rest, i, false) })
		default:
			l.work.Go(func() { r.giveUpAt(rest, i) })
		}
	}
	return awaited
}

// add counts an answer; one of a key that does not count has been counted before.
func (r *returning) add(a keyAnswer) {
	if a.err == nil {
		r.told++
	}
	if a.asked {
		r.tally.add(a)
		return
	}
	r.answers[a.from] = a
}

// enough reports whether the answers that are still to come are no matter.
func (r *returning) enough() bool {
	need := r.lease.need()
	if r.insists || r.lost() {
		return r.told >= need
	}
	return r.yes >= need
}

// lost: no majority can say any more that the lock was ours.
func (r *returning) lost() bool { return len(r.lease.key)-r.no < r.lease.need() }

// lateRelease is how long a master is waited for when a majority has released.
const lateRelease = 500 * time.Millisecond

// outcome says what a release has come to: whether the lock was ours, and, for a slot,
// whether it is known how the run ended.
func (r *returning) outcome() error {
	need := r.lease.need()
	switch {
	case r.insists && r.told < need:
	case r.lost():
		return r.loss()
	case r.insists || r.yes >= need:
		return nil
	}
	return r.lease.unknown(&r.tally)
}

// releaseAt tries twice: the connection may have died without a word while the
// command ran. For a slot it tries until ctx ends.
func (r *returning) releaseAt(ctx context.Context, at int, counts bool) keyAnswer {
	l := r.lease
	m, last, req := l.election.masters[at], l.lastTerm(), &l.election.req
	a, end := keyAnswer{from: at, asked: counts}, r.end
	end.astray = l.isInDoubt(at)
	ask := func(ctx context.Context) (err error) {
		a.owner, err = m.release(ctx, last, end)
		return err
	}
	doubtful := func(err error) bool { return !link.Answered(err) }
	var done bool
	if r.insists {
		done, a.err = lock.RetryUntilFinal(ctx, req.Times, req.Draw, ask, doubtful, link.Final)
	} else {
		done, a.err = lock.TryTwice(ctx, ask, doubtful)
	}
	if a.err == nil && done {
		a.owner = wire.Own // a try before has done it, and another may have the lock since
	}
	if a.err != nil || l.isInDoubt(at) {
		m.giveUp(ctx, last, end)
	}
	return a
}

func (r *returning) giveUpAt(ctx context.Context, at int) {
	l := r.lease
	if l.isInDoubt(at) {
		l.election.masters[at].giveUp(ctx, l.lastTerm(), r.end)
		return
	}
	l.election.masters[at].release(ctx, l.lastTerm(), r.end)
}
