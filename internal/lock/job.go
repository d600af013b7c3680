package lock

import (
	"context"
	"time"
)

// An Inspector reads what a store knows about its jobs, and writes nothing. Its errors are
// *UnavailableError, *NotLockError for a key of the ledger that holds something else, or the cause
// of ctx. Several goroutines may use it.
type Inspector interface {
	// Names returns the names of the jobs in the ledger's list, sorted; with scan also those of
	// all locks in the keyspace.
	Names(ctx context.Context, scan bool) ([]string, error)

	// Jobs reads the jobs of these names, in their order, each in one step. It reads only the
	// latest slots of each. Unread of a job says what could not be read.
	Jobs(ctx context.Context, names []string) ([]Job, error)

	// JobsWithRuns is like Jobs, with the first Waiters and the last Runs of each.
	JobsWithRuns(ctx context.Context, names []string) ([]Job, error)

	// A Job is the store's knowledge of one lock's name at one instant. What is unknown is zero.
	// All times are the store's. Any client of the server may have written any part of it.
	Job(ctx context.Context, name string) (Job, error)

	// Runs are the entries of a job, newest first, with bad those that did not end well
	// and lie further back, too: at most one entry of each run, the latest.
	Runs(ctx context.Context, name string, bad bool) ([]Entry, error)

	// Outputs are the ends of what the runs of these jobs printed, in the order of the names. Each Output has at
	// most the last bytes of what was kept, so many.
	Outputs(ctx context.Context, names []string, most int) ([]JobOutputs, error)

	// Address names the place for messages, without user and password.
	Address() string
}

// An Inspection says how to read a store.
type Inspection struct {
	// Timeout bounds each step that a server is asked to make, tried again as often as
	// there is time; 0 means 5 s.
	Timeout time.Duration

	// OnSilent, if not nil, is called once in each reading for each master of a quorum that
	// could not be asked while a majority could, and for each node of a Cluster while another
	// could, from the reading's goroutine. The result then comes from the others.
	OnSilent func(*UnavailableError)

	// Draw is where what is left to chance comes from; nil in a program.
	Draw Draw
}

// Complete fills in the defaults.
func (i *Inspection) Complete() {
	if i.Timeout <= 0 {
		i.Timeout = defaultTimeout
	}
}

// A Job is what the store knows about one lock's name at one instant. What is unknown is zero. All
// times are the store's. Any client of the server may have written any part of it.
type Job struct {
	Name string
	Now  time.Time // when it was read

	// A State describes what a job is doing.
	State  State         // "" if unknown: Unread says why
	Holder Holder        // zero if no run has the lock; only Foreign is set if the value is not our record
	At     time.Time     // when the holder took it
	Left   time.Duration // of its lease; negative: it never expires by itself
	Fence  int64         // the holder's

	Waiting int      // how many runs wait
	Waiters []Waiter // the first of them, in order

	// The policy.
	Slots []JobSlot // the latest first
	Pause *PauseMark
	Ends  []PauseEnd // in a quorum: of pauses that a master which was away may still have

	// The ledger.
	Open        Entry // the run that should be running; Run is "" if there is none
	LastEnd     Entry // the last end
	LastSuccess Entry // the last success
	Mean        time.Duration
	Counts      map[EndKind]int64 // nil: unknown
	Runs        []Entry           // newest first
	Tail        Tail              // of the last run whose output was kept

	// What is expected of the job: a success at least every MaxAge of unpaused time.
	MaxAge      time.Duration // 0: nothing is expected
	MaxAgeFence int64         // of the run that said so; 0: a quorum has not confirmed that run
	MaxAgeSince time.Time     // since when a success is expected
	Pauses      []PauseSpan   // since the last success at least, in order

	// Unresolved are runs that one master of a quorum has known to be open before Open, and of
	// which it does not know how they ended. What a majority knows has none.
	Unresolved []Entry

	NoHistory bool // the store remembers no runs

	Stopped Entry // the last stop by an operator; Act is "" if there was none

	// Holders are the runs that have permits of the job, the oldest first. One of them is the Holder.
	Holders []PermitHolder

	// Unfit says why no run can take the lock, so that each ends with 65: keys of it in whose
	// place something else stands. All of it is in Unread, too.
	Unfit []string

	// Unread says what could not be read, and why: "the runs: the user may not use LRANGE".
	// It is fit to be shown, and of many jobs often the same.
	Unread []string
}

// Vanished reports whether the run that the ledger shows as running has no lock any more: it died
// without a report, or continues without its lock.
func (j *Job) Vanished() bool {
	return j.Open.Run != "" && j.State != "" && j.Holder.Run != j.Open.Run
}

// A PermitHolder is a run that has permits of a job, or a value in the place of a permit that is not our record.
type PermitHolder struct {
	Holder
	Numbers []int // of its permits, in order; none: the run has all of them
	State   State
	At      time.Time
	Left    time.Duration // of the lease that ends first; negative: one never expires by itself
}

// Has reports whether a run holds the lock, or a permit of the job.
func (j *Job) Has(run string) bool { return j.HolderOf(run).Run != "" }

// HolderOf returns the holder of the lock, or of a permit of the job, that is this run; zero if there is none.
func (j *Job) HolderOf(run string) Holder {
	for _, h := range j.Holders {
		if h.Run == run {
			return h.Holder
		}
	}
	if j.Holder.Run == run {
		return j.Holder
	}
	return Holder{}
}

// Taken returns how many permits of the job are held, and how many there are, as the runs say that hold them; of is 0
// if none is held.
func (j *Job) Taken() (held, of int) {
	all := false
	for _, h := range j.Holders {
		held += len(h.Numbers)
		of = max(of, h.Permits)
		all = all || len(h.Numbers) == 0
	}
	if all {
		held = max(held, of)
	}
	return held, of
}

// An Entry is a run of a job, or an act of an operator, as the ledger has it. What is unknown or
// does not apply is zero, except Status. All times are the store's.
type Entry struct {
	Run      string
	Host     string // of the run, or of the operator
	User     string // likewise
	PID      int
	Command  string
	Slot     string
	Attempts int
	Fence    int64
	Asked    time.Time     // the run's first question
	At       time.Time     // when it began
	Ended    time.Time     // of a vanished run: when that was found; of an act: when it was done
	End      EndKind       // "" for what is running, and for an act
	Act      Act           // "" for a run
	Status   int           // of the command, or redlockrun's own; < 0: unknown
	Lost     bool          // the lock was lost before the end
	Stood    time.Duration // for how long the command stood still, to ms
	Reason   string        // of an act
	Until    time.Time     // of a pause: when it ends; zero: nobody knows
}

// JobOutputs are the kept outputs of one job's runs.
type JobOutputs struct {
	Name    string
	Outputs []Output // newest first, one of each run
	Unread  []string // what could not be read, as of a [Job]
	Err     error    // why nothing could be read: *NotLockError or *UnavailableError; Unread says so, too
}

// A Waiter is a run in the queue.
type Waiter struct {
	Run   string
	Host  string
	PID   int
	Since time.Time // when it asked first, by the store's clock; zero: unknown
	Slot  string
}

// A JobSlot is a slot of a job.
type JobSlot struct {
	Name    string
	Touched time.Time
	SlotState
}

// A PauseMark says that a job is paused.
type PauseMark struct {
	ID     string // 26 characters
	By     string // user@host
	Reason string
	Since  time.Time
	Until  time.Time // zero: for ever
}

// A PauseEnd says that a pause ended in a quorum while Master was away, which may still have the
// pause; or, without a Master, that a majority has noted the end.
type PauseEnd struct{ ID, Master string }

// A State is what a job is doing.
type State string

// The states of jobs.
const (
	StateIdle     State = "idle"
	StateRunning  State = "running"
	StateEnded    State = "ended"    // the run is over, its min-hold is not
	StateStarting State = "starting" // a hand-over is in flight
	StatePaused   State = "paused"
	StateSilent   State = "silent"   // the holder has missed its renewals; its lease goes on
	StateVanished State = "vanished" // the ledger shows a run that has no lock
	StateStuck    State = "stuck"    // the lock never expires by itself, and is no pause
	StateForeign  State = "foreign"  // the value is not our record
)
