package session

import "redlockrun/internal/lock"

// A Report is the content of --report-file. It leaves out what is unknown or does not apply. Times
// are the store's, so a run that never had the lock has none.
type Report struct {
	Key    string       `json:"key,omitempty"`
	Run    string       `json:"run,omitempty"`
	Slot   string       `json:"slot,omitempty"`
	Fence  int64        `json:"fence,omitempty"`
	Host   string       `json:"host,omitempty"`
	Asked  lock.Instant `json:"asked,omitzero"`
	At     lock.Instant `json:"at,omitzero"`
	Ended  lock.Instant `json:"ended,omitzero"`
	How    lock.EndKind `json:"how,omitempty"` // "": nothing was run
	Status int          `json:"status"`
	From   string       `json:"from"` // fromCommand or fromRedlockrun
	// Recorded says whether the store has recorded the end; nil: there was nothing to record.
	Recorded *bool  `json:"recorded,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Reason   string `json:"reason,omitempty"` // redlockrun's own message
}

// The origin of a status.
const (
	fromCommand    = "command"
	fromRedlockrun = "redlockrun"
)

// began notes that the run has the lock.
func (a *Report) began(run string, lease lock.Lease) {
	i := lease.Instants()
	a.Run, a.Fence, a.Asked, a.At = run, lease.Fence(), lock.Instant{Time: i.Asked}, lock.Instant{Time: i.At}
}

// ended notes how the run ended, as the release records it.
func (a *Report) ended(lease lock.Lease, o lock.RunResult) {
	a.How, a.Attempts = o.End, o.Attempts
	if o.End != "" {
		a.Ended = lock.Instant{Time: lease.Instants().Now}
	}
}

// released notes whether the store has recorded the end.
func (a *Report) released(recorded bool) {
	if a.How != "" {
		a.Recorded = &recorded
	}
}
