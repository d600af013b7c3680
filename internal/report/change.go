package report

import "redlockrun/internal/lock"

type changeObject struct {
	Key     string        `json:"key"`
	Event   lock.Act      `json:"event"`
	Done    bool          `json:"done"`
	Run     string        `json:"run,omitempty"`
	Host    string        `json:"host,omitempty"`
	PID     int           `json:"pid,omitempty"`
	User    string        `json:"user,omitempty"`
	Command string        `json:"command,omitempty"`
	Foreign string        `json:"foreign,omitempty"`
	At      lock.Instant  `json:"at,omitzero"`
	Lease   *seconds      `json:"lease_seconds,omitempty"`
	Paused  *pauseObject  `json:"paused,omitempty"`
	Next    *waiterObject `json:"next,omitempty"`
	Unsure  bool          `json:"unconfirmed,omitempty"`
}

// ChangeObject describes what an operator's command did to a job, and how things were before. It
// is written as JSON.
func ChangeObject(name string, event lock.Act, c lock.ChangeResult) any {
	h := c.Holder
	o := changeObject{
		Key: name, Event: event, Done: c.Done, Run: h.Run, Host: h.Host, PID: h.PID, User: h.User, Command: h.Command,
		Foreign: h.Foreign, At: lock.Instant{Time: c.At}, Lease: secondsOf(c.Left, c.Left > 0 && h != (lock.Holder{})),
		Paused: pauseOf(c.Pause), Unsure: c.Unconfirmed,
	}
	if c.Next.Run != "" {
		next := waiterOf(c.Next)
		o.Next = &next
	}
	return o
}
