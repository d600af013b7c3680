package report

import (
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// What programs read: the names of the fields stay as they are, and what is unknown or does
// not apply is left out.

type jobObject struct {
	Key     string       `json:"key"`
	State   lock.State   `json:"state,omitempty"`
	Host    string       `json:"host,omitempty"`
	PID     int          `json:"pid,omitempty"`
	User    string       `json:"user,omitempty"`
	Command string       `json:"command,omitempty"`
	Run     string       `json:"run,omitempty"`
	Fence   int64        `json:"fence,omitempty"`
	At      lock.Instant `json:"at,omitzero"`
	Lease   *seconds     `json:"lease_seconds,omitempty"`
	Waiting int          `json:"waiting"`
	Last    *entryObject `json:"last,omitempty"`
	Good    *entryObject `json:"good,omitempty"`
	Mean    *seconds     `json:"mean_seconds,omitempty"`
	Overdue *bool        `json:"overdue,omitempty"`
	MaxAge  *seconds     `json:"max_age_seconds,omitempty"`
	Due     lock.Instant `json:"due,omitzero"`
	Paused  *pauseObject `json:"paused,omitempty"`
	Slot    string       `json:"slot,omitempty"`
	Failed  *int         `json:"tries_failed,omitempty"`

	Permits int            `json:"permits,omitempty"`
	Held    *int           `json:"permits_held,omitempty"`
	Holders []holderObject `json:"holders,omitempty"`
	Waiters []waiterObject `json:"waiters,omitempty"`
	Runs    []*entryObject `json:"runs,omitempty"`
	Tail    string         `json:"tail,omitempty"`
}

type pauseObject struct {
	By    string       `json:"by,omitempty"`
	Why   string       `json:"why,omitempty"`
	Until lock.Instant `json:"until,omitzero"`
}

type waiterObject struct {
	Run   string       `json:"run,omitempty"`
	Host  string       `json:"host,omitempty"`
	Since lock.Instant `json:"since,omitzero"`
}

// A holderObject is a run that has permits.
type holderObject struct {
	Run     string       `json:"run,omitempty"`
	Host    string       `json:"host,omitempty"`
	PID     int          `json:"pid,omitempty"`
	User    string       `json:"user,omitempty"`
	Command string       `json:"command,omitempty"`
	Permits []int        `json:"permits,omitempty"` // left out: it has all
	State   lock.State   `json:"state"`
	At      lock.Instant `json:"at,omitzero"`
	Lease   *seconds     `json:"lease_seconds,omitempty"`
}

func holderOf(h lock.PermitHolder) holderObject {
	return holderObject{Run: h.Run, Host: h.Host, PID: h.PID, User: h.User, Command: h.Command, Permits: h.Numbers,
		State: h.State, At: lock.Instant{Time: h.At}, Lease: secondsOf(h.Left, h.Left > 0)}
}

// pauseOf is nil for none.
func pauseOf(m *lock.PauseMark) *pauseObject {
	if m == nil {
		return nil
	}
	return &pauseObject{By: m.By, Why: m.Reason, Until: lock.Instant{Time: m.Until}}
}

func waiterOf(w lock.Waiter) waiterObject {
	return waiterObject{Run: w.Run, Host: w.Host, Since: lock.Instant{Time: w.Since}}
}

type entryObject struct {
	Run      string       `json:"run,omitempty"`
	Host     string       `json:"host,omitempty"`
	User     string       `json:"user,omitempty"`
	PID      int          `json:"pid,omitempty"`
	Command  string       `json:"command,omitempty"`
	Slot     string       `json:"slot,omitempty"`
	Attempts int          `json:"attempts,omitempty"`
	Fence    int64        `json:"fence,omitempty"`
	Asked    lock.Instant `json:"asked,omitzero"`
	At       lock.Instant `json:"at,omitzero"`
	Ended    lock.Instant `json:"ended,omitzero"`
	Seconds  *seconds     `json:"seconds,omitempty"`
	Waited   *seconds     `json:"waited_seconds,omitempty"`
	Stood    *seconds     `json:"stood_seconds,omitempty"`
	Status   *int         `json:"status,omitempty"`
	How      lock.EndKind `json:"how,omitempty"`
	Event    lock.Act     `json:"event,omitempty"`
	By       string       `json:"by,omitempty"`
	Why      string       `json:"why,omitempty"`
	Until    lock.Instant `json:"until,omitzero"`
	outputObject
}

// seconds are written with at most three digits behind the point.
type seconds float64

func secondsOf(d time.Duration, known bool) *seconds {
	if !known {
		return nil
	}
	s := seconds(d.Milliseconds()) / 1000
	return &s
}

// JobObject is a job for programs, to be written as JSON: with its waiters and runs, if
// they were read.
func JobObject(j lock.Job) any {
	run, slot := Subject(j), slotOf(j)
	o := jobObject{
		Key: j.Name, State: j.State, Host: run.Host, PID: run.PID, User: run.User, Command: run.Command, Run: run.Run,
		Fence: run.Fence, At: lock.Instant{Time: run.At}, Lease: secondsOf(j.Left, Busy(j) && j.Left > 0),
		Waiting: j.Waiting, Last: known(j.LastEnd), Good: known(j.LastSuccess), Mean: secondsOf(j.Mean, j.Mean > 0),
		Slot:   slot,
		Paused: pauseOf(j.Pause),
	}
	if j.MaxAge > 0 {
		late := j.Overdue()
		o.Overdue, o.MaxAge = &late, secondsOf(j.MaxAge, true)
	}
	if due, known := j.Due(); known {
		o.Due = lock.Instant{Time: due}
	}
	if tries, open := failed(j, slot); open {
		n := len(tries)
		o.Failed = &n
	}
	if tail, ok := tailOf(j); ok {
		o.Tail = tail
	}
	if held, of := j.Taken(); of > 0 {
		o.Permits, o.Held = of, &held
	}
	for _, h := range j.Holders {
		o.Holders = append(o.Holders, holderOf(h))
	}
	for _, w := range j.Waiters {
		o.Waiters = append(o.Waiters, waiterOf(w))
	}
	if j.Runs != nil {
		for _, e := range Complete(j, j.Runs) {
			o.Runs = append(o.Runs, object(e))
		}
	}
	return o
}

func known(e lock.Entry) *entryObject {
	if e.Run == "" {
		return nil
	}
	return object(e)
}

func object(e lock.Entry) *entryObject {
	o := &entryObject{
		Run: e.Run, Host: e.Host, User: e.User, PID: e.PID, Command: e.Command, Slot: e.Slot, Attempts: e.Attempts,
		Fence: e.Fence,
		Asked: lock.Instant{Time: e.Asked}, At: lock.Instant{Time: e.At}, Ended: lock.Instant{Time: e.Ended},
		How: e.End, Event: e.Act, Why: e.Reason, Until: lock.Instant{Time: e.Until},
		Seconds: secondsOf(RunTime(e)), Waited: secondsOf(WaitTime(e)), Stood: secondsOf(e.Stood, e.Stood > 0),
	}
	if e.Act != "" {
		o.By, o.Host, o.User = strings.Trim(e.User+"@"+e.Host, "@"), "", ""
		return o
	}
	if e.Status >= 0 && e.End != "" {
		o.Status = &e.Status
	}
	return o
}
