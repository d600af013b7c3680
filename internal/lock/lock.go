// Package lock defines the contract of a lock: a name that one holder has at a time, in Redis or
// in a file of this host.
//
// Every answer is one of three: held, definitely lost, unknown. [ErrLost] is the second. Any other
// error of a renewal is the third; the caller may try again. All instants come from package
// boottime and are taken before the request that they belong to is sent.
package lock

import (
	"context"
	"errors"
	"time"

	"redlockrun/internal/boottime"
)

// A Store is a place where locks live. Several goroutines may use it.
type Store interface {
	// Acquire takes the lock req.Name, and waits for it as req.Wait says.
	//
	// It returns *SlotDoneError if the work of the slot is done, *TriesExhaustedError if its tries
	// are used up, *HeldError if the lock stayed busy, *NestedError if the wait could never end,
	// *UnavailableError if the last try had no answer, *NotLockError if the key is something else,
	// *NewerError if a newer release has claimed it, *StoppedError if an operator stopped the run
	// before it began, and the cause of ctx if that ended first. In each of these cases the run
	// holds nothing and leaves no trace that outlives a minute.
	Acquire(ctx context.Context, req Request) (Lease, error)

	// Address names the place in messages, without user and password.
	Address() string

	// Close ends the connections. A process that is about to exit need not call it.
	Close() error
}

// A Request says which lock a run wants, for whom, and how long it waits.
type Request struct {
	Name   string
	Times  Times
	Holder Holder // Holder.Run is the owner's token: fresh for each Acquire
	Wait   Wait

	// Slot is the piece of work that the run does; the zero value means none. A store without
	// slots returns a *ConfigError for any other.
	Slot Slot

	// History is how many runs the ledger keeps; 0: this run is not recorded.
	History int

	// MaxAge is how old the last success may become from now on.
	MaxAge MaxAge

	// IgnorePause takes the lock although the job is paused.
	IgnorePause bool

	// Since is when the run began to ask, on Clock; zero: now. The ledger counts its wait from there.
	Since time.Time

	// Timeout bounds how long the client asks a store that does not answer, giving up included; 0
	// means 5 s.
	Timeout time.Duration

	// Enclosing are the run ids of the redlockruns that this one runs inside.
	Enclosing []string

	// Clock measures the lease, and Draw supplies random durations; both are nil in a program.
	Clock *boottime.Clock
	Draw  Draw

	// OnBusy, if not nil, is called from Acquire's goroutine each time the lock is busy and there
	// is still time to wait. The first call is the first answer.
	OnBusy func(*HeldError)

	// OnOutage, if not nil, is called for each try without an answer while the run waits for a
	// busy lock.
	OnOutage func(error)

	// OnPolling, if not nil, is called once if the store cannot notify a waiter: the waiter then
	// polls about twice a second. The error is an *UnavailableError with the reason.
	OnPolling func(error)
}

// Wait says how long and how a run waits for a busy lock. The zero value tries once.
type Wait struct {
	Limit   time.Duration // from the first answer "busy"; Forever: no limit
	Retries int           // if > 0: at most so many further tries, without a place in the queue
	Delay   time.Duration // the pause before a retry, random between Delay/2 and Delay
	Max     int           // if > 0: with so many waiters, the lock counts as busy
}

// Forever, as a Wait.Limit, means no limit.
const Forever time.Duration = 1<<63 - 1

// A Lease is a held lock. Its methods are not called concurrently, except Until, Fence, StopAsked
// and Instants.
type Lease interface {
	// Until is the end of the lease: the instant V of [Times].
	Until() time.Time

	// Renew extends the lease to a full ttl from now and returns its new end. ctx carries the
	// limit of this one try. ErrLost is final; after any other error the lease may still be
	// renewed.
	Renew(ctx context.Context) (until time.Time, err error)

	// Release gives the lock back, or, with Keep > 0, lets it expire after Keep. It makes at most
	// two tries within ctx; for a slot it tries until ctx ends. If the lock belongs to another run
	// by now, Release leaves it alone and returns ErrLost; it still records how the run ended.
	Release(ctx context.Context, end ReleaseRequest) error

	// Held is how long the run has held the lock, by the clock that min-hold uses: the server's,
	// if it has one.
	Held() time.Duration

	// Fence grows with each acquisition of the same key.
	Fence() int64

	// StopAsked reports whether an operator wants the run to end. The last renewal brought the
	// answer.
	StopAsked() bool

	// Instants are by the store's clock, to ms; zero where unknown.
	Instants() Instants
}

// A Looker is a Lease that sees who has other locks.
type Looker interface {
	// Look tells who has each of some locks that are parts of the same name as its own, in one question
	// within ctx: nil for a lock that nobody has. While somebody holds a valid lease of a lock, the
	// answer is never nil: it proves as much as to have taken the lock. paused is the pause that waits for
	// the lease's own lock; nil if there is none. The error is an *UnavailableError, or *NotLockError if a
	// key is something else. It is called like Renew.
	Look(ctx context.Context, names []string) (held []*HeldError, paused *HeldError, err error)
}

// A Retaker is a Lease whose lock can be taken back after it has vanished.
type Retaker interface {
	// Retake makes one try, limited by ctx, to have the lock again, and returns the new end of the lease. It takes
	// back a lock that no other run has had since. ErrLost is final. ErrPaused says that a pause has the lock: the
	// caller may try again, as after any other error.
	Retake(ctx context.Context) (until time.Time, err error)
}

// ErrPaused says that a pause has the lock.
var ErrPaused = errors.New("the job is paused")

// Instants are of the store's clock, to ms; zero where nobody knows.
type Instants struct {
	Asked time.Time // the first question
	At    time.Time // when the lock was taken
	Now   time.Time // now, as far as that follows from the last answer
}

// ErrNoSuchMaster is wrapped by an *UnavailableError if a sentinel does not know the name.
var ErrNoSuchMaster = errors.New("knows no master of that name")

// ErrFewReplicas is wrapped by an *UnavailableError if fewer than Servers.Replicas have
// acknowledged the lock.
var ErrFewReplicas = errors.New("too few replicas")

// Two kinds of definite loss. ErrTaken is an ErrLost: another's token was seen.
var (
	ErrLost  = errors.New("lock lost")
	ErrTaken = takenError{}
)

type takenError struct{}

func (takenError) Error() string        { return "another run took the lock" }
func (takenError) Is(target error) bool { return target == ErrLost }

// A HeldError says that the lock is busy, and who holds it for how long.
type HeldError struct {
	Name     string
	Key      string        // in the store
	Holder   Holder        // only Foreign is set if the value is not our record
	TTL      time.Duration // what is left; 0: unknown; negative: the key never expires by itself
	Since    time.Time     // of the acquire, by the store's clock, as an instant of package boottime; zero: unknown
	Position int           // in the queue, from 1; 0 outside it
	Full     bool          // Wait.Max others already wait
	Rejoined bool          // the run lost its position; this is a new one, at the end
	Pause    *PauseMark    // the pause that holds the lock back; nil if a run holds it
	Missed   bool          // the run lost its position: the hand-over came while the store was unreachable

	Permits *PermitState // of a name with permits; nil: of a lock
}

// A PermitState says why a run does not get its permits.
type PermitState struct {
	Of     int  // how many the name has, as the run says
	Wanted int  // how many the run takes; 0: all of them
	Free   int  // how many of them nobody has
	Gate   bool // the holder has the gate, behind which permits are collected
}

// A SlotDoneError says that the work of a slot is done.
type SlotDoneError struct {
	Name string
	Slot string
	By   Try
}

// A TriesExhaustedError says that all tries of a slot have failed.
type TriesExhaustedError struct {
	Name     string
	Slot     string
	Tries    int
	Failures []Try // the first one first
}

// A StoppedError says that an operator stopped a run before its command started.
type StoppedError struct{ Name string }

// A NestedError says that a run which encloses this one holds the lock.
type NestedError struct {
	Name    string
	Holder  Holder
	Permits bool // it has a permit of the name, or its gate
}

// An UnavailableError says that the store could not be asked.
type UnavailableError struct {
	Address string // host:port or a path, without user and password
	Err     error
	Denied  bool // the server answered and refused: password or rights
}

// A NotLockError says that a key of the lock holds something else.
type NotLockError struct {
	Key    string
	What   string // "a list", "a fence that is not a number below 2^53"
	Wanted string // what it should be; "": a lock
}

// A NewerError says that releases below a protocol must leave the lock alone, and that this is
// one: see Protocol in package wire.
type NewerError struct {
	Name     string
	Protocol int // the lowest that may touch it
}

// A FileTimeoutError says that a file with an address or a password was not read in time. It may
// lie on a network, or be a pipe without a writer.
type FileTimeoutError struct {
	Subject string
	Field   string // of [Servers], or ""
}

// A ConfigError says that a URL, file or directory cannot be used as a store, or for one. It names
// no password, and hence no missing file: the name may be a password in the wrong place.
type ConfigError struct {
	Subject string
	Field   string // of [Servers], if Subject is a file that it names; else ""
	Problem string
	Reason  Reason
	Hint    string // may be empty, as it is where a Reason is given
}

// A Reason is the kind of a ConfigError, where the advice depends on how the caller asks the user.
type Reason int

const (
	_                        Reason = iota
	SeveralHosts                    // the URL of one server names several
	UnknownParameter                // is in a URL
	UnknownSentinelParameter        // in the URL of sentinels, which has its own parameters
	TwoMasters                      // not a quorum
)
