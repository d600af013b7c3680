package console

// Events of a run, by names that stay as they are; how one ends is named by its status.
// docs/flags.md lists them.
const (
	EventConfig         = "config"         // what should be known of the configuration
	EventSplay          = "splay"          // the lock is asked for later
	EventWaiting        = "waiting"        // for a busy lock, in line at a place
	EventRejoined       = "rejoined"       // the place in the line was lost
	EventPolling        = "uncalled"       // waiting goes on by looking
	EventUnavailable    = "unavailable"    // no answer, without a status: trying again
	EventBusy           = "busy"           // the lock stayed busy
	EventPaused         = "paused"         // the job is paused
	EventStopped        = "stopped"        // by an operator
	EventRefused        = "refused"        // a change of jobs
	EventHeldLong       = "held-long"      // and is so for longer than --warn-held-after
	EventStarted        = "started"        // the lock is held, and the command starts
	EventClocks         = "clocks"         // this host's and the server's differ
	EventUnrenewed      = "unrenewed"      // a try got no answer
	EventRenewed        = "renewed"        // and a later one did
	EventLost           = "lost"           // without a status: the command runs on
	EventRegained       = "regained"       // it was held all the time
	EventReleased       = "released"       // the run is over
	EventUnreleased     = "release-failed" // the lock lapses by itself
	EventRetry          = "retry"          // the command failed and is started again
	EventSlotDone       = "dismissed"      // the slot's work is done
	EventTriesExhausted = "tries-used-up"  // as many runs of the slot have failed as may
	EventUnrecorded     = "unrecorded"     // a slot's work is done, and nobody knows
	EventUnreported     = "report-failed"  // the report file could not be written
	EventWarnFailed     = "command-failed" // the command's own status is not 0
	EventLeft           = "left-running"   // processes of the command
	EventCommand        = "command"        // what should be known of how the command runs
	EventJobs           = "jobs"           // what should be known of jobs that were looked at
	EventDropped        = "dropped"        // lines that stderr did not take
	EventUsage          = "usage"          // the rest: with the status that a run ended with
	EventNotLock        = "not-a-lock"
	EventFailed         = "failed"
	EventMaxRuntime     = "max-runtime"
	EventNotStarted     = "not-started"
	EventSignalled      = "signalled"
)
