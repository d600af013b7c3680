package quorum

import (
	"context"
	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"sync"
	"time"
)

// A quorumLease is a lock held at a majority of the masters.
type quorumLease struct {
	election *election
	round    uint32
	fence    int64
	taken    time.Time // before the round that took it was sent

	work   sync.WaitGroup     // what goes on at slow masters after a majority has answered
	cancel context.CancelFunc // of work

	mu      sync.Mutex
	until   time.Time
	healing uint32 // the last term's number
	key     []term // by master: the key that counts; the zero term: none does
	stolen  bool   // a renewal has seen another's token
}

func newQuorumLease(p *poll, fence int64, members []bool) *quorumLease {
	l := &quorumLease{
		election: p.election, round: p.term.round, fence: fence, taken: p.sent, cancel: p.cancel,
		until: p.req.Times.End(p.sent), key: make([]term, len(members)),
	}
	for i, ok := range members {
		if ok {
			l.key[i] = p.term
		}
	}
	work, cancel := context.WithTimeout(context.Background(), p.req.Times.Try)
	l.cancel = func() { cancel(); p.cancel() }
	l.mend(work, p)
	return l
}

// mend gets the lock at the masters that answered and did not grant it, and
// lets those join that answer later. A lock that has a bare majority is lost
// when one master forgets it; contention for it is no reason to leave it at that,
// so that what others have taken in vain is waited for, a few round trips long.
func (l *quorumLease) mend(work context.Context, p *poll) {
	mended := make(chan struct{})
	var mending sync.WaitGroup
	order := l.nextTerm()
	for i, v := range p.votes {
		if v.verdict == refused || v.verdict == abstained {
			mending.Add(1)
			l.work.Go(func() { defer mending.Done(); l.heal(work, i, order) })
		}
	}
	l.work.Go(func() { l.welcome(work, p, order) })
	l.work.Go(func() { mending.Wait(); close(mended) })
	select {
	case <-mended:
	case <-time.After(lock.Between(5*time.Millisecond, 8*p.trip, 100*time.Millisecond)):
	}
}

// welcome counts the masters that grant the lock after a majority has, and heals
// those that do not.
func (l *quorumLease) welcome(work context.Context, p *poll, order term) {
	for p.pending > 0 {
		a := <-p.answers
		l.mu.Lock()
		p.note(a)
		l.mu.Unlock()
		switch a.vote.verdict {
		case granted:
			l.join(a.from, p.term)
		case refused, abstained:
			l.work.Go(func() { l.heal(work, a.from, order) })
		}
	}
	p.asking.Wait()
}

// join lets the key that term b made at a master count. After the end of the
// lease it is too late: somebody else can have come and gone.
func (l *quorumLease) join(at int, b term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if boottime.Now().Before(l.until) {
		l.key[at] = b
	}
}

// part lets the key of a master count no more.
func (l *quorumLease) part(at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.key[at] = term{}
}

func (l *quorumLease) keyAt(at int) (b term, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.key[at], l.key[at] != term{}
}

func (l *quorumLease) doubt(at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.election.doubt[at] = true
}

func (l *quorumLease) doubts(at int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.election.doubt[at]
}

// settle ends what goes on in the background.
func (l *quorumLease) settle() {
	l.cancel()
	l.work.Wait()
}

func (l *quorumLease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *quorumLease) Fence() int64 { return l.fence }

// Held is counted by our own clock: there are several servers'.
func (l *quorumLease) Held() time.Duration { return boottime.Now().Sub(l.taken) }

// A renewal is one Renew.
type renewal struct {
	lease *quorumLease
	term  term          // of what it heals
	held  chan struct{} // closed when a majority has renewed
	over  chan struct{} // closed when Renew is over
}

// Renew asks the masters whose keys count. A majority that renews holds the
// lease, and then, and only then, the others are healed.
func (l *quorumLease) Renew(ctx context.Context) (time.Time, error) {
	l.settle()
	if ctx.Err() != nil {
		return l.Until(), l.unknown(&census{of: make([]renewed, len(l.key))})
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.election.req.Times.Try)
	l.cancel = cancel
	defer context.AfterFunc(ctx, cancel)()
	sent := boottime.Now()
	r := &renewal{lease: l, term: l.nextTerm(), held: make(chan struct{}), over: make(chan struct{})}
	defer close(r.over)
	answers := make(chan renewed, len(l.key))
	for i := range l.key {
		l.work.Go(func() { r.serve(work, i, answers) })
	}
	c := &census{of: make([]renewed, len(l.key))}
	for range l.key {
		c.add(<-answers)
		if c.yes >= l.need() {
			until := l.prolong(sent)
			close(r.held)
			return until, nil
		}
		if len(l.key)-c.no < l.need() {
			cancel()
			l.stolen = l.stolen || c.taken
			return l.Until(), c.loss()
		}
	}
	return l.Until(), l.unknown(c)
}

func (l *quorumLease) need() int { return majority(len(l.key)) }

func (l *quorumLease) nextTerm() term {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.healing++
	return term{round: l.round, heal: l.healing}
}

func (l *quorumLease) prolong(sent time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = l.election.req.Times.End(sent)
	return l.until
}

// A renewed is what one master said to a renewal.
type renewed struct {
	from     int
	standing standing
	asked    bool // a key counted there, and was asked for
	err      error
}

// serve renews at one master, and heals it once a majority holds without it.
func (r *renewal) serve(ctx context.Context, at int, answers chan<- renewed) {
	l, m := r.lease, r.lease.election.masters[at]
	a := renewed{from: at, standing: nobodys}
	if key, counts := l.keyAt(at); counts {
		a.asked = true
		a.standing, a.err = m.renew(ctx, key)
		if a.err != nil {
			a.standing = unheard
		}
		if a.standing == nobodys || a.standing == anothers {
			l.part(at)
		}
	}
	answers <- a
	if a.standing != nobodys {
		return
	}
	select {
	case <-r.held:
		l.heal(ctx, at, r.term)
	case <-r.over:
		select {
		case <-r.held: // over because held
			l.heal(ctx, at, r.term)
		default:
		}
	}
}

// heal locks a master for us that has no key of ours that counts. If it is
// another's for the moment, as it is when somebody else tries in vain to get a
// majority, it is asked again. One order is never repeated without an answer: it
// would be carried out twice, the second time too late.
func (l *quorumLease) heal(ctx context.Context, at int, order term) {
	for n := 0; ; n++ {
		switch standing, err := l.election.masters[at].heal(ctx, order, l.fence, l.Held()); {
		case err != nil:
			l.doubt(at)
			return
		case standing == ours:
			l.join(at, order)
			return
		case standing != anothers:
			return
		}
		if !lock.Pause(ctx, l.election.req.Draw.Jitter(betweenOrders.At(n))) {
			return
		}
	}
}

// betweenOrders are the pauses between two orders to heal one master.
var betweenOrders = lock.Backoff{First: time.Millisecond, Most: time.Second}

// A census counts what the masters said to one renewal.
type census struct {
	yes, no int
	taken   bool // another's token was seen
	of      []renewed
}

// add counts a master at which no key counts as a no: no later answer of its
// can be yes unless a majority heals it.
func (c *census) add(a renewed) {
	c.of[a.from] = a
	switch a.standing {
	case ours:
		c.yes++
	case anothers:
		c.taken = true
		c.no++
	case nobodys:
		c.no++
	}
}

func (c *census) loss() error {
	if c.taken {
		return lock.ErrTaken
	}
	return lock.ErrLost
}

// unknown says which masters did not answer, and why.
func (l *quorumLease) unknown(c *census) error {
	o := &outage{quorum: l.election.quorum}
	for i, a := range c.of {
		if a.standing == unheard {
			o.add(l.election.masters[i], a.err)
		}
	}
	return o.unavailable()
}

// Release goes to all masters. Those whose keys count are waited for, within
// ctx and two seconds, or half a second when a majority has answered: then what
// has been sent is enough, as a frozen server does it when it goes on. The
// others are waited for one more round trip.
func (l *quorumLease) Release(ctx context.Context, keep time.Duration) error {
	l.settle()
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, lock.ReleaseLimit)
	defer cancel()
	rest, cut := context.WithCancel(ctx)
	defer cut()
	answers := make(chan renewed, len(l.key))
	asked := 0
	for i := range l.key {
		if _, counts := l.keyAt(i); counts {
			asked++
			l.work.Go(func() { answers <- l.releaseAt(ctx, i, keep) })
		} else {
			l.work.Go(func() { l.giveUpAt(rest, i) })
		}
	}
	c := &census{of: make([]renewed, len(l.key)), no: len(l.key) - asked, taken: l.stolen}
	for range asked {
		if c.add(<-answers); c.yes == l.need() {
			limit := max(lateRelease, 8*time.Since(began))
			defer time.AfterFunc(limit, cancel).Stop()
		}
	}
	trip := lock.Between(leastTrip, time.Since(began), mostTrip)
	defer time.AfterFunc(trip, cut).Stop()
	l.work.Wait()
	for _, m := range l.election.masters {
		m.close()
	}
	return l.released(c)
}

// lateRelease is how long a master is waited for when a majority has released.
const lateRelease = 500 * time.Millisecond

// released says what a release has come to: whether the lock was ours.
func (l *quorumLease) released(c *census) error {
	switch {
	case c.yes >= l.need():
		return nil
	case len(l.key)-c.no < l.need():
		return c.loss()
	}
	return l.unknown(c)
}

// releaseAt tries twice: the connection may have died without a word while the
// command ran.
func (l *quorumLease) releaseAt(ctx context.Context, at int, keep time.Duration) renewed {
	m, last := l.election.masters[at], l.lastTerm()
	a := renewed{from: at}
	var done bool
	done, a.err = lock.Twice(ctx, func(ctx context.Context) (err error) {
		a.standing, err = m.release(ctx, last, keep)
		return err
	}, func(err error) bool { return !link.Answered(err) })
	if a.err == nil && done && a.standing == nobodys {
		a.standing = ours // the first try has done it
	}
	if a.err != nil || l.doubts(at) {
		m.giveUp(ctx, last)
	}
	return a
}

func (l *quorumLease) giveUpAt(ctx context.Context, at int) {
	if l.doubts(at) {
		l.election.masters[at].giveUp(ctx, l.lastTerm())
		return
	}
	l.election.masters[at].release(ctx, l.lastTerm(), 0)
}

func (l *quorumLease) lastTerm() term {
	l.mu.Lock()
	defer l.mu.Unlock()
	return term{round: l.round, heal: l.healing}
}
