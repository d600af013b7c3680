// Package lock is a name that one holder has at a time, wherever it is kept:
// in Redis, or in a file of this host.
//
// Every answer is one of three: held, definitely lost, unknown. [ErrLost] is
// the second; any other error of a renewal is the third and may be tried
// again. All instants are of package boottime and are taken before the
// request that they belong to is sent.
package lock

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/boottime"
)

// A Store is a place where locks live. It may be used by several goroutines.
type Store interface {
	// Acquire takes the lock req.Name, waiting for it as req.Wait says.
	//
	// It returns *SlotDoneError if the slot's work is done, *TriesExhaustedError if its tries are used
	// up, *HeldError if the lock stayed busy, *NestedError if waiting for it could not end,
	// *UnavailableError if the last try had no answer, *NotLockError if the key is something
	// else, *NewerError if a newer release has claimed it, *StoppedError if an operator
	// stopped it before it began, and the cause of ctx if that ended first; in each of these
	// cases nothing is held and no trace is left that outlives a minute.
	Acquire(ctx context.Context, req Request) (Lease, error)

	// Address names the place for messages, without user and password.
	Address() string

	// Close ends the connections. A process about to exit need not call it.
	Close() error
}

// A Request says which lock is wanted, for whom and how patiently.
type Request struct {
	Name   string
	Times  Times
	Holder Holder // Holder.Run is the owner's token: fresh for each Acquire
	Wait   Wait

	// Slot is what the run is for; the zero value is no slot. A store that keeps none
	// returns a *ConfigError for any other.
	Slot Slot

	// History is how many runs the ledger keeps; 0: nothing is written of this one.
	History int

	// IgnorePause has a pause stand in nobody's way.
	IgnorePause bool

	// Timeout bounds how long a store that does not answer is asked, giving up
	// included; 0 means 5 s.
	Timeout time.Duration

	// Enclosing are the run ids of the redlockruns that this one runs inside of.
	Enclosing []string

	// Clock is what the lease is measured on, and Draw where what is left to chance
	// comes from; both are nil in a program.
	Clock *boottime.Clock
	Draw  Draw

	// OnBusy, if not nil, is called from Acquire's goroutine each time the lock is
	// found busy and there is still time to wait. The first call is the first answer.
	OnBusy func(*HeldError)

	// OnOutage, if not nil, is called each time a try had no answer after the lock
	// had been found busy and waiting goes on.
	OnOutage func(error)

	// OnPolling, if not nil, is called once if the store cannot call a waiter: then
	// it looks about twice a second. The error is an *UnavailableError that says why.
	OnPolling func(error)
}

// Wait says how long and how a busy lock is waited for. The zero value tries once.
type Wait struct {
	Limit   time.Duration // from the first answer "busy"; Forever has no end
	Retries int           // if > 0: at most so many further tries, outside the line
	Delay   time.Duration // the pause before a retry is drawn from [Delay/2, Delay]
	Max     int           // if > 0: when so many wait already, the lock counts as busy
}

// Forever as a Wait.Limit has no end.
const Forever time.Duration = 1<<63 - 1

// A Lease is a lock that is held. Its methods are not called concurrently,
// except Until, Fence, StopAsked and Instants.
type Lease interface {
	// Until is the end of the lease: the instant V of [Times].
	Until() time.Time

	// Renew prolongs the lease to a full ttl from now and returns its new end. ctx
	// carries the limit of this one try. An error that is ErrLost is final; after
	// any other the lease may still be renewed.
	Renew(ctx context.Context) (until time.Time, err error)

	// Release gives the lock back, or, with Keep > 0, lets it expire after Keep. It
	// makes at most two tries within ctx, but for a slot tries until ctx ends. Releasing
	// a lock that is not ours any more changes nothing of it and returns ErrLost; how
	// the run ended is entered nevertheless.
	Release(ctx context.Context, end ReleaseRequest) error

	// Held is how long the lock has been held, by the clock that its min-hold is
	// measured on: the server's, if it has one.
	Held() time.Duration

	// Fence grows with each acquisition of the same key.
	Fence() int64

	// StopAsked reports whether an operator wants the run to end. The last renewal
	// has brought that.
	StopAsked() bool

	// Instants are the run's by the store's clock.
	Instants() Instants
}

// Instants are of the store's clock, to ms; zero where nobody knows.
type Instants struct {
	Asked time.Time // the first question
	At    time.Time // when the lock was taken
	Now   time.Time // now, as far as that follows from the last answer
}

// ErrNoSuchMaster is found in an *UnavailableError if a sentinel does not know the name.
var ErrNoSuchMaster = errors.New("knows no master of that name")

// ErrFewReplicas is found in an *UnavailableError if fewer than Servers.Replicas have
// acknowledged the lock.
var ErrFewReplicas = errors.New("too few replicas")

// Two kinds of definite loss. ErrTaken is an ErrLost: another's token was seen.
var (
	ErrLost  = errors.New("lock lost")
	ErrTaken = takenError{}
)

type takenError struct{}

func (takenError) Error() string        { return "lock taken by another" }
func (takenError) Is(target error) bool { return target == ErrLost }

// A HeldError says that the lock is busy, who has it and for how long.
type HeldError struct {
	Name     string
	Key      string        // as it is kept in the store
	Holder   Holder        // zero, but for Foreign, if the value is not a record of ours
	TTL      time.Duration // what is left; 0 if nobody knows, negative if the key never expires by itself
	Since    time.Time     // when the holder took it, by the store's clock, as an instant of package boottime; zero: nobody knows
	Position int           // in the line, from 1; 0 outside it
	Full     bool          // Wait.Max others wait already
	Rejoined bool          // the place before was lost; this is a new one, at the end
	Pause    *PauseMark    // why the lock is given to nobody; nil if a run has it
	Missed   bool          // it was lost because the lock was handed over while the store could not be reached
}

// A SlotDoneError says that the work of a slot is done.
type SlotDoneError struct {
	Name string
	Slot string
	By   Try
}

// A TriesExhaustedError says that as many runs of a slot have failed as may.
type TriesExhaustedError struct {
	Name     string
	Slot     string
	Tries    int
	Failures []Try // the first one first
}

// A StoppedError says that an operator has stopped a run before its command was started.
type StoppedError struct{ Name string }

// A NestedError says that the lock is held by a run that this one is part of.
type NestedError struct {
	Name   string
	Holder Holder
}

// An UnavailableError says that the store could not be asked.
type UnavailableError struct {
	Address string // host:port or a path, without user and password
	Err     error
	Denied  bool // the server answered and refused: password or rights
}

// A NotLockError says that a key of the lock is something else.
type NotLockError struct {
	Key    string
	What   string // "a list", "a fence that is no number below 2^53"
	Wanted string // what it was taken for; "": a lock
}

// A NewerError says that releases which know no protocol as high as this must leave the
// lock alone, and that this is one: see Protocol in package wire.
type NewerError struct {
	Name     string
	Protocol int // the lowest that may touch it
}

// A FileTimeoutError says that a file that leads to a store was not read in time: it may lie on a
// network, or in a pipe into which nobody writes.
type FileTimeoutError struct {
	Subject string
	Field   string // of [Servers], or ""
}

// A ConfigError says that a URL, file or directory cannot be used as a store, or
// for one. It names no password, and hence no file that does not exist: its name
// may be one that went to the wrong place.
type ConfigError struct {
	Subject string
	Field   string // of [Servers], if Subject is a file that it names; else ""
	Problem string
	Reason  Reason
	Hint    string // may be empty, as it is where a Reason is given
}

// A Reason is what is wrong, where the advice depends on how the user was asked.
type Reason int

const (
	_                        Reason = iota
	SeveralHosts                    // are in the URL of one server
	UnknownParameter                // is in a URL
	UnknownSentinelParameter        // is in the URL of sentinels, whose parameters are others
	TwoMasters                      // are no quorum
)
