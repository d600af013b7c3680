package wire

import (
	"encoding/json"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
)

// Protocol is the number of this release's format in a store: the
// record, the keys beside it, and what scripts do with them. Releases of different age
// share all this at the same time. So:
//
//   - What is new is added, in a way that an older release misses and does not break.
//     It ignores fields that it does not know, and takes one that is absent for unknown.
//   - The first and the last fields of a record keep their order and their place, and
//     all of it has room in 1,023 bytes: scripts look at bytes, not at JSON.
//   - Arguments and answers of scripts grow at the end only.
//   - What an older release would break raises this number. Then a floor stands behind
//     the number of a fence, as in "1763790000000 p2": the lowest protocol that may touch
//     the lock, in a quorum at a majority, before the first grant that needs it. A release that
//     does not know it gets a *NewerError and writes nothing.
//   - A record or a waiter with a higher number, and no floor, is like any other: it is busy
//     or in line, and run ids are compared.
//
// This release writes no floor. testdata/protocol has what each protocol sends and writes,
// frozen, to be tested against the present.
const Protocol = 1

// MostProtocol is the highest that a floor may name.
const MostProtocol = 999_999_999

// RecordMax bounds what is read of a key's value; a record of ours is shorter.
const RecordMax = 1024

// A Record is the value of a lock: one line of JSON that begins with the run
// id. Fence, At and Ended are written by the store. See Protocol before you change it.
type Record struct {
	Run      string `json:"run"`
	Ended    int64  `json:"ended,omitempty"` // when the run ended, ms of the store's clock
	Stop     string `json:"stop,omitempty"`  // the id of the change by which an operator wants the run to end
	Protocol int    `json:"v"`               // its writer's; 0: unknown
	Host     string `json:"host"`
	PID      int    `json:"pid"`
	User     string `json:"user"`
	Command  string `json:"cmd"`
	Start    int64  `json:"start"`             // ms of the holder's clock
	TTL      int64  `json:"ttl,omitempty"`     // ms
	Every    int64  `json:"every,omitempty"`   // ms between two renewals
	Boot     string `json:"boot,omitempty"`    // which boot of which machine, 16 hexadecimal digits
	Permits  int    `json:"permits,omitempty"` // how many the name has, as the run says; 0: the lock is none of them
	All      bool   `json:"all,omitempty"`     // of a gate: its run takes all permits
	Asked    int64  `json:"asked,omitempty"`   // when a run that waits asked first, ms of the store's clock
	Fence    int64  `json:"fence,omitempty"`   // always before At, at the end
	At       int64  `json:"at,omitempty"`      // when it was taken, ms of the store's clock
	Until    int64  `json:"until,omitempty"`   // in a file: the end of the min-hold
}

// RecordOf returns a holder's record: its texts are cut to the room that there is.
func RecordOf(h lock.Holder) Record {
	return Record{
		Run: h.Run, Protocol: Protocol, Host: short(h.Host, 64), PID: h.PID, User: short(h.User, 32),
		Command: short(h.Command, 64),
		Start:   h.Start.UnixMilli(), TTL: lock.Milliseconds(h.TTL), Every: lock.Milliseconds(h.Every), Boot: h.Boot,
		Permits: h.Permits, All: h.All,
	}
}

// String is the record as it is written.
func (r Record) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic("marshal record: " + err.Error()) // there is none that it refuses
	}
	return string(text)
}

// short cuts a text to at most n bytes, between two characters, and to at most twice as
// many in JSON, where one byte can take six.
func short(s string, n int) string {
	for len(s) > n || escaped(s) > 2*n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// escaped is the length of a text in JSON, without its quotes.
func escaped(s string) int {
	text, _ := json.Marshal(s) // there is none that it refuses
	return len(text) - 2
}

// ReadRecord reads a value, which any client may have written: the holder, and since when it
// is one on our clock, the store's being now.
func ReadRecord(value string, now int64, clock *boottime.Clock) (h lock.Holder, since time.Time) {
	r, ok := parseRecord(value)
	if !ok {
		return lock.Holder{Foreign: value[:min(len(value), RecordMax)]}, time.Time{}
	}
	return r.Holder(), r.Since(now, clock)
}

// ReadHeld is like ReadRecord, with the time of the acquire on the store's clock, and its fencing
// token; zero if unknown.
func ReadHeld(value string) (h lock.Holder, at time.Time, fence int64) {
	r, _ := parseRecord(value)
	h, _ = ReadRecord(value, 0, nil)
	return h, instantOf(r.At), max(0, r.Fence)
}

func parseRecord(value string) (r Record, ok bool) {
	ok = len(value) < RecordMax && strings.HasPrefix(value, `{"run":"`) &&
		json.Unmarshal([]byte(value), &r) == nil && len(r.Run) == lock.RunIDLen
	if !ok {
		return Record{}, false
	}
	return r, true
}

// Since is when the lock of a record was taken on our clock, the store's being now; zero
// if unknown, or if only the rest of its min-hold is left.
func (r Record) Since(now int64, clock *boottime.Clock) time.Time {
	const most = math.MaxInt64 / int64(time.Millisecond) // of a duration, in ms
	held := now - r.At
	if r.At <= 0 || r.Ended > 0 || now <= 0 || held > most || held < -most {
		return time.Time{}
	}
	return clock.Now().Add(-time.Duration(held) * time.Millisecond)
}

// Holder is who wrote the record.
func (r Record) Holder() lock.Holder {
	h := lock.Holder{
		Run: r.Run, Protocol: r.Protocol, Host: r.Host, PID: r.PID, User: r.User, Command: r.Command,
		Start: time.UnixMilli(r.Start),
		TTL:   span(r.TTL), Every: span(r.Every), Boot: r.Boot, Stop: r.Stop,
		Permits: min(max(0, r.Permits), lock.MostPermits), All: r.All,
	}
	if r.Ended > 0 {
		h.Ended = time.UnixMilli(r.Ended)
	}
	return h
}

// span reads a duration in ms, which any client may have written; 0 if it is none.
func span(ms int64) time.Duration {
	if ms <= 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// Kept is the rest of an ended run's min-hold. A clock that has gone back
// behind the run's end leaves nothing.
func (r Record) Kept() time.Duration {
	now := time.Now().UnixMilli()
	if r.Ended == 0 || now < r.Ended {
		return 0
	}
	return time.Duration(max(0, r.Until-now)) * time.Millisecond
}
