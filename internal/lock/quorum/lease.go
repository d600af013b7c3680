package quorum

import (
	"context"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// A quorumLease is a lock held at a majority of the masters.
type quorumLease struct {
	election *election
	votes    []vote   // of the round that took it
	tries    []string // runs of its slot that are gone without a word
	round    uint32
	fence    int64
	taken    time.Time // before the round that took it was sent

	work   sync.WaitGroup     // what goes on at slow masters after a majority has answered
	cancel context.CancelFunc // of work

	mu         sync.Mutex
	until      time.Time
	lastRepair uint32 // the last term's number
	key        []term // by master: the key that counts; the zero term: none does
	stolen     bool   // a renewal has seen another's token
	stop       bool   // an operator wants the run to end
}

func newQuorumLease(p *poll, fence int64, members []bool) *quorumLease {
	l := &quorumLease{
		election: p.election, votes: p.votes, tries: p.vanishedTries(), round: p.term.round, fence: fence,
		taken: p.sent, cancel: p.cancel,
		until: p.req.Times.End(p.sent), key: make([]term, len(members)),
	}
	for i, ok := range members {
		if ok {
			l.key[i] = p.term
		}
	}
	work, cancel := context.WithTimeout(context.Background(), p.req.Times.Try)
	l.cancel = func() { cancel(); p.cancel() }
	l.repairOthers(work, p)
	return l
}

// repairOthers gets the lock at the masters that answered and did not grant it, and
// counts those that answer later. A lock that has a bare majority is lost
// when one master forgets it; contention for it is no reason to leave it at that,
// so that what others have taken in vain is waited for, a few round trips long.
func (l *quorumLease) repairOthers(work context.Context, p *poll) {
	repaired := make(chan struct{})
	var repairing sync.WaitGroup
	order := l.nextTerm()
	for i, v := range p.votes {
		if v.kind == refused || v.kind == abstained {
			repairing.Add(1)
			l.work.Go(func() { defer repairing.Done(); l.repair(work, i, order) })
		}
	}
	l.work.Go(func() { l.countLate(work, p, order) })
	l.work.Go(func() { repairing.Wait(); close(repaired) })
	select {
	case <-repaired:
	case <-time.After(lock.Clamp(5*time.Millisecond, 8*p.trip, 100*time.Millisecond)):
	}
}

// countLate counts the masters that grant the lock after a majority has, and repairs
// those that do not.
func (l *quorumLease) countLate(work context.Context, p *poll, order term) {
	for p.pending > 0 {
		a := <-p.answers
		l.mu.Lock()
		p.note(a)
		l.mu.Unlock()
		switch a.vote.kind {
		case granted:
			l.setKey(a.from, p.term)
		case refused, abstained:
			l.work.Go(func() { l.repair(work, a.from, order) })
		}
	}
	p.asking.Wait()
}

// setKey lets the key that term b made at a master count. After the end of the
// lease it is too late: somebody else can have come and gone.
func (l *quorumLease) setKey(at int, b term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.election.req.Clock.Now().Before(l.until) {
		l.key[at] = b
	}
}

// dropKey lets the key of a master count no more.
func (l *quorumLease) dropKey(at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.key[at] = term{}
}

func (l *quorumLease) keyAt(at int) (b term, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.key[at], l.key[at] != term{}
}

func (l *quorumLease) setUnconfirmed(at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.election.unconfirmed[at] = true
}

func (l *quorumLease) isUnconfirmed(at int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.election.unconfirmed[at]
}

// stopWork ends what goes on in the background.
func (l *quorumLease) stopWork() {
	l.cancel()
	l.work.Wait()
}

func (l *quorumLease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *quorumLease) Fence() int64 { return l.fence }

// StopAsked implements lock.Lease. A majority is marked to stop a run, and whichever master
// says so is believed: it is one of any majority that renews.
func (l *quorumLease) StopAsked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stop
}

func (l *quorumLease) markStopped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop = true
}

// Instants implements lock.Lease: each master has a clock of its own.
func (l *quorumLease) Instants() lock.Instants { return lock.Instants{} }

// Held is counted by our own clock: there are several servers'.
func (l *quorumLease) Held() time.Duration { return l.election.req.Clock.Now().Sub(l.taken) }

// A renewal is one Renew.
type renewal struct {
	lease *quorumLease
	term  term          // of what it repairs
	held  chan struct{} // closed when a majority has renewed
	over  chan struct{} // closed when Renew is over
}

// Renew asks the masters whose keys count. A majority that renews holds the
// lease, and then, and only then, the others are repaired.
func (l *quorumLease) Renew(ctx context.Context) (time.Time, error) {
	l.stopWork()
	if ctx.Err() != nil {
		return l.Until(), l.unknown(&tally{answers: make([]keyAnswer, len(l.key))})
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.election.req.Times.Try)
	l.cancel = cancel
	defer context.AfterFunc(ctx, cancel)()
	sent := l.election.req.Clock.Now()
	r := &renewal{lease: l, term: l.nextTerm(), held: make(chan struct{}), over: make(chan struct{})}
	defer close(r.over)
	answers := make(chan keyAnswer, len(l.key))
	for i := range l.key {
		l.work.Go(func() { r.renewAt(work, i, answers) })
	}
	t := &tally{answers: make([]keyAnswer, len(l.key))}
	for range l.key {
		t.add(<-answers)
		if t.yes >= l.need() {
			until := l.prolong(sent)
			close(r.held)
			return until, nil
		}
		if len(l.key)-t.no < l.need() {
			cancel()
			l.stolen = l.stolen || t.taken
			return l.Until(), t.loss()
		}
	}
	return l.Until(), l.unknown(t)
}

func (l *quorumLease) need() int { return lock.Majority(len(l.key)) }

func (l *quorumLease) nextTerm() term {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastRepair++
	return term{round: l.round, repair: l.lastRepair}
}

func (l *quorumLease) prolong(sent time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = l.election.req.Times.End(sent)
	return l.until
}

// A keyAnswer is what one master said of its key, to a renewal or a release.
type keyAnswer struct {
	from  int
	owner wire.Ownership
	asked bool // a key counted there, and was asked for
	err   error
}

// renewAt renews at one master, and repairs it once a majority holds without it.
func (r *renewal) renewAt(ctx context.Context, at int, answers chan<- keyAnswer) {
	l, m := r.lease, r.lease.election.masters[at]
	a := keyAnswer{from: at, owner: wire.Free}
	if key, counts := l.keyAt(at); counts {
		a.asked = true
		var stop bool
		a.owner, stop, a.err = m.renew(ctx, key)
		if a.err != nil {
			a.owner = wire.Unanswered
		}
		if stop {
			l.markStopped()
		}
		if a.owner != wire.Own && a.owner != wire.Unanswered {
			l.dropKey(at)
		}
	}
	answers <- a
	if !a.owner.Available() {
		return
	}
	select {
	case <-r.held:
		l.repair(ctx, at, r.term)
	case <-r.over:
		select {
		case <-r.held: // over because held
			l.repair(ctx, at, r.term)
		default:
		}
	}
}

// repair locks a master for us that has no key of ours that counts. If it is
// another's for the moment, as it is when somebody else tries in vain to get a
// majority, it is asked again. One order is never repeated without an answer: it
// would be carried out twice, the second time too late.
func (l *quorumLease) repair(ctx context.Context, at int, order term) {
	for n := 0; ; n++ {
		switch owner, err := l.election.masters[at].repair(ctx, order, l.fence, l.Held()); {
		case err != nil:
			l.setUnconfirmed(at)
			return
		case owner == wire.Own:
			l.setKey(at, order)
			return
		case owner != wire.Others:
			return
		}
		if !lock.Sleep(ctx, l.election.req.Draw.Jitter(betweenOrders.At(n))) {
			return
		}
	}
}

// betweenOrders are the pauses between two orders to repair one master.
var betweenOrders = lock.Backoff{First: time.Millisecond, Most: time.Second}

// A tally counts what the masters said to one renewal, or one release.
type tally struct {
	yes, no int
	taken   bool // another's token was seen
	answers []keyAnswer
}

// add counts a master at which no key counts as a no: no later answer of its
// can be yes unless a majority repairs it.
func (t *tally) add(a keyAnswer) {
	t.answers[a.from] = a
	switch {
	case a.owner == wire.Own:
		t.yes++
	case a.owner == wire.Others:
		t.taken = true
		t.no++
	case a.owner.Available():
		t.no++
	}
}

func (t *tally) loss() error {
	if t.taken {
		return lock.ErrTaken
	}
	return lock.ErrLost
}

// unknown says which masters did not answer, and why.
func (l *quorumLease) unknown(t *tally) error {
	o := &outage{quorum: l.election.quorum}
	for i, a := range t.answers {
		if a.owner == wire.Unanswered {
			o.add(l.election.masters[i], a.err)
		}
	}
	return o.unavailable()
}

func (l *quorumLease) lastTerm() term {
	l.mu.Lock()
	defer l.mu.Unlock()
	return term{round: l.round, repair: l.lastRepair}
}
