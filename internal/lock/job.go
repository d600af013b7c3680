package lock

import (
	"context"
	"time"
)

// An Inspector reads what a store knows of its jobs. It writes nothing. Its errors are
// *UnavailableError, or the cause of ctx. It may be used by several goroutines.
type Inspector interface {
	// Names are the names of the jobs in the ledger's list, sorted; with scan those of
	// all locks in the keyspace, too.
	Names(ctx context.Context, scan bool) ([]string, error)

	// Jobs reads the jobs of these names, in their order, each of them in one step.
	Jobs(ctx context.Context, names []string) ([]Job, error)

	// Job is like Jobs for one name, with Waiters and Runs.
	Job(ctx context.Context, name string) (Job, error)

	// Runs are the entries of a job, newest first, with bad those that did not end well
	// and lie further back, too: at most one entry of each run, the latest.
	Runs(ctx context.Context, name string, bad bool) ([]Entry, error)
}

// A Job is what is known of one lock's name at one instant. What is unknown is zero. All
// times are the store's. Anybody may have written any part of it.
type Job struct {
	Name string
	Now  time.Time // when it was read

	// The lock.
	State  State
	Holder Holder        // zero if nobody has it; Foreign if it is no record of ours
	At     time.Time     // when the holder took it
	Left   time.Duration // of its lease; negative: it never expires by itself
	Fence  int64         // the holder's

	Waiting int      // how many stand in line
	Waiters []Waiter // the first of them, in order

	// The policy.
	Slots []JobSlot // the latest first
	Pause *PauseMark

	// The ledger.
	Open   Entry // the run that is believed to be running; Run is "" if none is
	Last   Entry // the last end
	Good   Entry // the last success
	Mean   time.Duration
	Counts map[How]int64 // nil: unknown
	Runs   []Entry       // newest first

	// Unread says what could not be read, and why: "the runs: NOPERM ...".
	Unread []string
}

// A Waiter stands in line.
type Waiter struct {
	Run   string
	Host  string
	PID   int
	Since time.Time // when it asked first, by its own clock
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
	By    string // user@host
	Why   string
	Since time.Time
	Until time.Time // zero: for ever
}

// A State is what a job is doing.
type State string

// The states of jobs.
const (
	Idle      State = "idle"
	Running   State = "running"
	Ended     State = "ended"    // the run is over, its min-hold is not
	Starting  State = "starting" // a hand-over is under way
	PausedJob State = "paused"
	Silent    State = "silent"   // it has not renewed when it should have; its lease goes on
	Gone      State = "vanished" // the ledger has it running, and it has no lock
	Stuck     State = "stuck"    // the lock never expires by itself, and is no pause
	Foreign   State = "foreign"  // the key is somebody else's
)
