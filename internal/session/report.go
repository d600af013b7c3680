package session

import "redlockrun/internal/lock"

// A Report is what --report-file says of a run. What is unknown or does not apply is left
// out. Times are the store's, and so there are none of a run that never had the lock.
type Report struct {
	Key      string       `json:"key,omitempty"`
	Run      string       `json:"run,omitempty"`
	Slot     string       `json:"slot,omitempty"`
	Fence    int64        `json:"fence,omitempty"`
	Host     string       `json:"host,omitempty"`
	Asked    lock.Instant `json:"asked,omitzero"`
	At       lock.Instant `json:"at,omitzero"`
	Ended    lock.Instant `json:"ended,omitzero"`
	How      lock.EndKind `json:"how,omitempty"` // "": nothing was run
	Status   int          `json:"status"`
	From     string       `json:"from"`               // fromCommand or fromRedlockrun
	Recorded *bool        `json:"recorded,omitempty"` // whether the store has taken in how it ended; nil: there was nothing to take in
	Attempts int          `json:"attempts,omitempty"`
	Reason   string       `json:"reason,omitempty"` // redlockrun's own message
}

// Whose a status is.
const (
	fromCommand    = "command"
	fromRedlockrun = "redlockrun"
)

// began notes a run that has the lock.
func (a *Report) began(run string, lease lock.Lease) {
	i := lease.Instants()
	a.Run, a.Fence, a.Asked, a.At = run, lease.Fence(), lock.Instant{Time: i.Asked}, lock.Instant{Time: i.At}
}

// ended notes how it ended: with what went into the release.
func (a *Report) ended(lease lock.Lease, o lock.RunResult) {
	a.How, a.Attempts = o.End, o.Attempts
	if o.End != "" {
		a.Ended = lock.Instant{Time: lease.Instants().Now}
	}
}

// released notes whether the store knows of it.
func (a *Report) released(recorded bool) {
	if a.How != "" {
		a.Recorded = &recorded
	}
}
