package console

// Events of a run, by names that stay as they are; how one ends is named by its status.
// docs/flags.md lists them.
const (
	EventConfig         = "config"         // a warning about the configuration
	EventSplay          = "splay"          // the start is delayed
	EventWaiting        = "waiting"        // for a busy lock, at a position in the queue
	EventRejoined       = "rejoined"       // the position in the queue was lost
	EventPolling        = "uncalled"       // the waiter polls: the store cannot notify it
	EventUnavailable    = "unavailable"    // no answer, without a status: trying again
	EventBusy           = "busy"           // the lock stayed busy
	EventPaused         = "paused"         // the job is paused
	EventStopped        = "stopped"        // by an operator
	EventRefused        = "refused"        // a change of jobs
	EventHeldLong       = "held-long"      // busy for longer than --warn-held-after
	EventStarted        = "started"        // the lock is held, and the command starts
	EventClocks         = "clocks"         // this host's and the server's differ
	EventUnrenewed      = "unrenewed"      // a try got no answer
	EventRenewed        = "renewed"        // and a later one did
	EventLost           = "lost"           // without a status: the command runs on
	EventRegained       = "regained"       // it was held all the time
	EventStands         = "stands-still"   // the command, until the lock is held again
	EventGoesOn         = "goes-on"        // the command, after it stood still
	EventReleased       = "released"       // the run is over
	EventUnreleased     = "release-failed" // the lock lapses by itself
	EventRetry          = "retry"          // the command failed and is started again
	EventSlotDone       = "dismissed"      // the slot's work is done
	EventTriesExhausted = "tries-used-up"  // as many runs of the slot have failed as may
	EventUnrecorded     = "unrecorded"     // a slot's work is done, but not recorded
	EventUnreported     = "report-failed"  // the report file could not be written
	EventWarnFailed     = "command-failed" // the command's own status is not 0
	EventLeft           = "left-running"   // processes of the command
	EventUnkept         = "output-unkept"  // what the command printed is not kept
	EventCommand        = "command"        // a warning about how the command runs
	EventJobs           = "jobs"           // a warning about jobs that were read
	EventDropped        = "dropped"        // messages that stderr did not take
	EventUsage          = "usage"          // the rest: with the status that a run ended with
	EventNotLock        = "not-a-lock"
	EventFailed         = "failed"
	EventMaxRuntime     = "max-runtime"
	EventNotStarted     = "not-started"
	EventSignalled      = "signalled"
)
