// Package quorum keeps locks in N independent masters that know nothing of each
// other: a lock is held while a majority of them has it. This is the Redlock
// algorithm of the Redis documentation's page on distributed locks, with a
// fence.
//
// What one run asks of the masters is numbered by terms, which only grow. A
// key that a master makes carries its term; a renewal counts it only if its
// answer came while the lease was still held, and compares the whole of it; an
// undo takes no key of a later term. So whatever arrives late, after its
// round was given up, does nothing, or makes a key that never counts and that
// ends by itself within a probation. Package fencemodel explores both protocols.
package quorum

import (
	"context"
	"fmt"
	"strings"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// A quorum is the store.
type quorum struct {
	size    int
	address string
	open    func(lock.Request) []master // the masters, for one acquisition
	shut    func()
}

// A master is one node of a quorum, for one acquisition. Each method is one
// atomic step in the server, within ctx, whose end interrupts it at once. The
// steps of one master queue up for each other.
type master interface {
	Address() string

	// grant asks for the lock; whatever its kind, err is nil. asked is when the round
	// began, in ms of the client's clock, the same for all masters: so that their counters,
	// if they are not ahead of it, agree at once.
	grant(ctx context.Context, b term, asked int64) (vote, error)

	// learn tells the master, with what it is asked from now on, which pauses have ended.
	learn(ended string)

	// bump bumps the counter to fence if the lock still is b's.
	bump(ctx context.Context, b term, fence int64) (done bool, err error)

	// renew begins the full ttl anew if the lock is b's. stop reports that an operator wants
	// the run to end.
	renew(ctx context.Context, b term) (owner wire.Ownership, stop bool, err error)

	// repair takes the lock for b if it is nobody's or an older term's of this
	// run, and bumps the counter to fence. The run has had the lock for held.
	repair(ctx context.Context, b term, fence int64, held time.Duration) (wire.Ownership, error)

	// release gives up the lock of any term of this run up to b, and enters what end says.
	release(ctx context.Context, b term, end releaseRequest) (wire.Ownership, error)

	// giveUp is like release, and makes sure that no step of this run up to b, answered or
	// not, takes the lock any more, as well as that can be done within ctx.
	giveUp(ctx context.Context, b term, end releaseRequest) error

	// look tells who has each of some locks. Its error says, too, that the server was restarted
	// too short a time ago to be believed.
	look(ctx context.Context, names []string) ([]*lock.HeldError, error)

	// keepOutput keeps what the command printed.
	keepOutput(ctx context.Context, o lock.Output) error

	// close ends the connections.
	close()
}

// A term numbers what one run asks of the masters: the round that took the
// lock, and the repairing within it.
type term struct{ round, repair uint32 }

func (b term) String() string { return fmt.Sprintf("%08x.%08x", b.round, b.repair) }

// last is after every term of b's round.
func (b term) last() term { return term{b.round, 1<<32 - 1} }

// A vote is the answer of a master that was asked for the lock.
type vote struct {
	kind        voteKind
	fence       int64           // of granted: the counter of this master
	server      string          // which server process that is; may be empty
	owner       string          // of refused: run and round of the holder
	held        lock.HeldError  // of refused
	slot        lock.SlotState  // of closed, granted and refused: what this master had of the run's slot
	ends        []lock.PauseEnd // of granted: pauses that have ended without some master
	unconfirmed []string        // of granted and refused: runs that had the lock here and have not said how they ended
	wait        time.Duration
	wrong       *lock.NotLockError
	newer       *lock.NewerError
}

type voteKind int

const (
	silent    voteKind = iota // no answer
	granted                   // the lock is ours
	refused                   // another has it
	abstained                 // the server was restarted less than vote.wait ago from now on
	duplicate                 // this server has voted already, as another master
	revoked                   // this term has been given up
	notLock                   // a key is something else: vote.wrong
	newer                     // a newer release has claimed the lock: vote.newer
	closed                    // the slot's work is done: vote.slot
)

// probation is the longest ttl of a key before its answer has been counted. An
// answer that is never heard leaves nothing that outlives it.
const probation = time.Minute

// newQuorum refuses two masters: both would be needed, so that a quorum of two
// is down when either is.
func newQuorum(addresses []string, open func(lock.Request) []master, shut func()) (*quorum, error) {
	if len(addresses) == 2 {
		return nil, &lock.ConfigError{
			Subject: "two servers", Problem: "a majority of two is both, so the outage of either stops every job",
			Reason: lock.TwoMasters,
		}
	}
	seen := make(map[string]bool)
	for _, a := range addresses {
		if key := sameServer(a); seen[key] {
			return nil, sameServerTwice(a)
		} else {
			seen[key] = true
		}
	}
	return &quorum{size: len(addresses), address: strings.Join(addresses, ","), open: open, shut: shut}, nil
}

// sameServer reduces host:port/db to what two names of one server share.
func sameServer(address string) string {
	if strings.HasPrefix(address, "/") {
		return address
	}
	host, _, _ := strings.Cut(address, "/")
	for _, local := range []string{"localhost:", "[::1]:"} {
		if port, ok := strings.CutPrefix(host, local); ok {
			return "127.0.0.1:" + port
		}
	}
	return host
}

func sameServerTwice(address string) error {
	return &lock.ConfigError{
		Subject: address, Problem: "it is the same server as another master of the quorum",
		Hint: "a quorum needs servers that fail independently",
	}
}

func (q *quorum) Address() string { return q.address }

func (q *quorum) Close() error {
	q.shut()
	return nil
}

// Acquire implements Store. Waiters have no line: they try again, each at its
// own pace.
func (q *quorum) Acquire(ctx context.Context, req lock.Request) (lock.Lease, error) {
	if err := req.Complete(); err != nil {
		return nil, err
	}
	if req.Wait.Retries == 0 { // without retries, nobody has said at which pace
		req.Wait.Delay = pollDelay
	}
	e := &election{quorum: q, req: req, masters: q.open(req), unconfirmed: make([]bool, q.size)}
	lease, err := lock.Await(ctx, req, e.ask)
	if err != nil {
		e.giveUp(ctx)
		return nil, err
	}
	return lease, nil
}

// pollDelay is the longest pause of a waiter between two looks: two commands a
// second on each master, of the five that it may cost.
const pollDelay = 600 * time.Millisecond
