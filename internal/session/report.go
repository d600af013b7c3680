package session

import (
	"time"

	"redlockrun/internal/lock"
)

// An Report is what --report-file says of a run. What is unknown or does not apply is left
// out. Times are the store's, and so there are none of a run that never had the lock.
type Report struct {
	Key      string   `json:"key,omitempty"`
	Run      string   `json:"run,omitempty"`
	Slot     string   `json:"slot,omitempty"`
	Fence    int64    `json:"fence,omitempty"`
	Host     string   `json:"host,omitempty"`
	Asked    moment   `json:"asked,omitzero"`
	At       moment   `json:"at,omitzero"`
	Ended    moment   `json:"ended,omitzero"`
	How      lock.How `json:"how,omitempty"` // "": nothing was run
	Status   int      `json:"status"`
	From     string   `json:"from"`               // fromCommand or fromRedlockrun
	Recorded *bool    `json:"recorded,omitempty"` // whether the store has taken in how it ended; nil: there was nothing to take in
	Attempts int      `json:"attempts,omitempty"`
	Reason   string   `json:"reason,omitempty"` // redlockrun's own message
}

// Whose a status is.
const (
	fromCommand    = "command"
	fromRedlockrun = "redlockrun"
)

// A moment is written in UTC, to ms.
type moment struct{ time.Time }

// MarshalJSON is RFC 3339 with as many digits as all have.
func (m moment) MarshalJSON() ([]byte, error) {
	return m.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}

// began notes a run that has the lock.
func (a *Report) began(run string, lease lock.Lease) {
	i := lease.Instants()
	a.Run, a.Fence, a.Asked, a.At = run, lease.Fence(), moment{i.Asked}, moment{i.At}
}

// ended notes how it ended: with what went into the release.
func (a *Report) ended(lease lock.Lease, o lock.Outcome) {
	a.How, a.Attempts = o.How, o.Attempts
	if o.How != "" {
		a.Ended = moment{lease.Instants().Now}
	}
}

// released notes whether the store knows of it.
func (a *Report) released(recorded bool) {
	if a.How != "" {
		a.Recorded = &recorded
	}
}
