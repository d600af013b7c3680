package quorum

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// A poll is one round of an election.
type poll struct {
	*election
	term    term
	sent    time.Time
	votes   []vote
	errs    []error
	pending int
	answers chan answer
	cancel  context.CancelFunc
	asking  *sync.WaitGroup
	elected bool          // a lease was made of it, which may have repaired masters
	trip    time.Duration // how long it took until the round was decided
}

// An answer is what one master said, or why it did not.
type answer struct {
	from int
	vote vote
	err  error
}

// newPoll asks every master at once, each within limit.
func (e *election) newPoll(ctx context.Context, limit time.Duration) *poll {
	e.round++
	e.cost.add(1)
	n := len(e.masters)
	p := &poll{
		election: e, term: term{round: e.round}, sent: e.req.Clock.Now(), votes: make([]vote, n),
		errs:    make([]error, n),
		pending: n, answers: make(chan answer, n), asking: new(sync.WaitGroup),
	}
	ctx, p.cancel = context.WithTimeout(context.WithoutCancel(ctx), limit)
	asked := time.Now().UnixMilli()
	for i, m := range e.masters {
		p.asking.Go(func() {
			v, err := m.grant(ctx, p.term, asked)
			p.answers <- answer{i, v, err}
		})
	}
	return p
}

// hold sees the round through: a lease, or why not, and then nothing of the
// round is left at the masters that can be reached.
func (p *poll) hold(ctx context.Context) (lock.Lease, error) {
	p.collect(ctx)
	p.learn()
	err := p.outcome()
	var l *quorumLease
	if err == nil {
		l, err = p.elect(ctx)
	}
	if err == nil {
		return l, nil
	}
	p.undo(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, err
}

// learn tells all masters of the pauses that have ended while some of them were away: one answer is enough, if it says
// that a majority has noted the end. Who still has such a pause ends it when it is asked again, or repaired.
func (p *poll) learn() {
	var ids []string
	for _, v := range p.votes {
		for _, end := range v.ends {
			if v.kind == granted && end.Master == "" && !slices.Contains(ids, end.ID) {
				ids = append(ids, end.ID)
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	for _, m := range p.masters {
		m.learn(strings.Join(ids, " "))
	}
}

// collect gathers answers until a majority is ours or cannot be any more. What
// is on its way then is waited for half as long again, in vain only if a master is
// frozen: if won, since a master less would have to be repaired and since two
// names of one server are found out by their answers; if lost, since a connection
// that is cut must be made again, and to tell who holds the lock takes a majority. What
// decides whether tries of the slot are left is waited for as a late release is.
func (p *poll) collect(ctx context.Context) {
	var over <-chan time.Time
	late := false
	for p.pending > 0 && !(late && !p.undecided()) {
		select {
		case a := <-p.answers:
			p.note(a)
		case <-over:
			if late || !p.undecided() {
				return
			}
			late, over = true, time.After(lateRelease)
		case <-ctx.Done():
			return
		}
		if over == nil {
			over = p.decided()
		}
	}
}

// decided is how much longer to wait for what is on its way; nil if all depends on it.
func (p *poll) decided() <-chan time.Time {
	p.trip = p.elapsed()
	ours, need := p.count(granted), lock.Majority(p.quorum.size)
	if p.count(closed) == 0 && ours < need && ours+p.pending >= need {
		return nil
	}
	return time.After(lock.Clamp(leastTrip, p.trip/2, mostTrip))
}

// Bounds of a round trip, for those who wait for one more. The lower one is a bit
// less than a millisecond, in which the runtime's poller counts: the wait for a
// whole one takes two.
const (
	leastTrip = 900 * time.Microsecond
	mostTrip  = 50 * time.Millisecond
)

func (p *poll) elapsed() time.Duration { return p.req.Clock.Now().Sub(p.sent) }

// note takes an answer down. One that is an error leaves it open what the
// server has done.
func (p *poll) note(a answer) {
	p.pending--
	p.votes[a.from], p.errs[a.from] = a.vote, a.err
	if a.err != nil && !link.Answered(a.err) {
		p.unconfirmed[a.from] = true
	}
}

func (p *poll) count(v voteKind) (n int) {
	for _, vote := range p.votes {
		if vote.kind == v {
			n++
		}
	}
	return n
}

// outcome says what the answers mean: nil if a majority is ours.
func (p *poll) outcome() error {
	if err := p.findDuplicate(); err != nil {
		return err
	}
	need := lock.Majority(p.quorum.size)
	leader, held := p.leader()
	p.reached = p.count(granted)+p.count(refused)+p.count(closed) >= need
	if err := p.slotFinished(); err != nil {
		return err
	}
	switch ours, busy := p.count(granted), p.count(refused); {
	case ours >= need:
		return nil
	case leader >= need:
		return held
	case ours+busy >= need && busy > 0:
		return &splitError{busy, held}
	}
	for _, v := range p.votes {
		if v.kind == notLock && p.count(notLock) > p.quorum.size-need {
			return v.wrong
		}
	}
	if p.count(newer) > p.quorum.size-need {
		return p.newest()
	}
	return p.unavailable()
}

// newest is what the master with the highest protocol says to older releases.
func (p *poll) newest() (most *lock.NewerError) {
	for _, v := range p.votes {
		if v.kind == newer && (most == nil || v.newer.Protocol > most.Protocol) {
			most = v.newer
		}
	}
	return most
}

// findDuplicate finds two masters that are one server.
func (p *poll) findDuplicate() error {
	seen := make(map[string]bool)
	for i, v := range p.votes {
		if v.kind == duplicate || v.server != "" && seen[v.server] {
			return sameServerTwice(p.masters[i].Address())
		}
		seen[v.server] = true
	}
	return nil
}

// leader is the holder that most masters name, and how many do.
func (p *poll) leader() (most int, held *lock.HeldError) {
	named := make(map[string]int)
	for _, v := range p.votes {
		if v.kind != refused {
			continue
		}
		named[v.owner]++
		if n := named[v.owner]; n > most {
			h := v.held
			most, held = n, &h
		}
	}
	return most, held
}

// unavailable says which masters did not vote, and why.
func (p *poll) unavailable() error {
	o := &outage{quorum: p.quorum}
	for i, v := range p.votes {
		switch v.kind {
		case abstained:
			o.addRestarted(p.masters[i], v.wait)
		case silent, revoked:
			o.add(p.masters[i], p.errs[i])
		case newer:
			o.addNewer(p.masters[i], v.newer.Protocol)
		}
	}
	return o.unavailable()
}

// elect makes a lease of a majority: the fence is agreed upon, and time enough
// is left.
func (p *poll) elect(ctx context.Context) (*quorumLease, error) {
	fence, members, ok := p.agree(ctx)
	if !ok {
		return nil, &splitError{held: &lock.HeldError{Name: p.req.Name}}
	}
	p.elected = true
	l := newQuorumLease(p, fence, members)
	if p.elapsed() <= p.req.Times.Try && p.req.Times.TTL <= probation {
		return l, nil
	}
	// Renewals would be as slow as this was, or the keys are on probation.
	ctx, cancel := context.WithTimeout(ctx, p.req.Times.Try)
	defer cancel()
	if _, err := l.Renew(ctx); err != nil {
		l.stopWork()
		return nil, &lock.UnavailableError{Address: p.quorum.address, Err: lock.TooSlow(p.req.Times.Try)}
	}
	return l, nil
}

// agree finds the fence: the largest counter among the masters whose grants
// were counted. A majority of these must have it before it is used; one that
// answered it has it already, another bumps its counter while its lock is
// still this term's.
func (p *poll) agree(ctx context.Context) (fence int64, members []bool, ok bool) {
	for _, v := range p.votes {
		if v.kind == granted {
			fence = max(fence, v.fence)
		}
	}
	members = make([]bool, len(p.votes))
	agreed := 0
	var below []int
	for i, v := range p.votes {
		members[i] = v.kind == granted
		if members[i] && v.fence == fence {
			agreed++
		} else if members[i] {
			below = append(below, i)
		}
	}
	if need := lock.Majority(p.quorum.size); agreed < need {
		agreed += p.bump(ctx, below, fence, need-agreed)
		return fence, members, agreed >= need
	}
	return fence, members, true
}

// bump asks masters to bump their counters and returns how many did, as soon
// as need have.
func (p *poll) bump(ctx context.Context, at []int, fence int64, need int) (done int) {
	ctx, cancel := context.WithTimeout(ctx, p.req.Times.Try)
	answers := make(chan bool, len(at))
	var raising sync.WaitGroup
	defer raising.Wait()
	defer cancel()
	for _, i := range at {
		raising.Go(func() {
			ok, err := p.masters[i].bump(ctx, p.term, fence)
			answers <- ok && err == nil
		})
	}
	p.cost.add(1)
	for n := len(at); n > 0 && done < need && done+n >= need; n-- {
		if <-answers {
			done++
		}
	}
	return done
}

// undo takes back what the round was granted, whatever has become of ctx.
func (p *poll) undo(ctx context.Context) {
	p.cancel()
	for p.pending > 0 {
		p.note(<-p.answers)
	}
	p.asking.Wait()
	limit := p.req.Times.Try
	if ctx.Err() != nil {
		limit = lock.GiveUpLimit
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var undoing sync.WaitGroup
	for i, v := range p.votes {
		if v.kind == granted || p.elected {
			undoing.Go(func() {
				if _, err := p.masters[i].release(ctx, p.term.last(), releaseRequest{}); err != nil {
					p.unconfirmed[i] = true
				}
			})
		}
	}
	undoing.Wait()
	p.cost.add(1)
}

// backoff is the pause after a split vote: one to eight round trips, doubling
// from try to try, so that one of those who collided comes first.
func (p *poll) backoff(try int) time.Duration {
	trip := lock.Clamp(200*time.Microsecond, p.trip, mostTrip) << min(try, 8)
	return min(trip+p.req.Draw.Below(7*trip), longestBackoff/2+p.req.Draw.Below(longestBackoff/2))
}

const longestBackoff = 500 * time.Millisecond
