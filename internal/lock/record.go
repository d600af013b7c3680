package lock

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"redlockrun/internal/boottime"
)

// RecordMax bounds what is read of a key's value; a record of ours is shorter.
const RecordMax = 1024

// A Record is the value of a lock: one line of JSON that begins with the run
// id. Fence, At and Ended are written by the store.
type Record struct {
	Run     string `json:"run"`
	Ended   int64  `json:"ended,omitempty"` // when the run ended, ms of the store's clock
	Version int    `json:"v"`
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	User    string `json:"user"`
	Command string `json:"cmd"`
	Start   int64  `json:"start"`           // ms of the holder's clock
	Fence   int64  `json:"fence,omitempty"` // always before At, at the end
	At      int64  `json:"at,omitempty"`    // when it was taken, ms of the store's clock
	Until   int64  `json:"until,omitempty"` // in a file: the end of the min-hold
}

// RecordOf is what a holder writes: its texts cut to what the record has room for.
func RecordOf(h Holder) Record {
	return Record{
		Run: h.Run, Version: 1, Host: short(h.Host, 64), PID: h.PID, User: short(h.User, 32), Command: short(h.Command, 44),
		Start: h.Start.UnixMilli(),
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

// short cuts a text to at most n bytes, between two characters. In JSON each
// byte may take six: the three texts together have room for 140.
func short(s string, n int) string {
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// ReadRecord reads a value that may be anybody's: the holder, and since when it
// is one on our clock, the store's being now.
func ReadRecord(value string, now int64, clock *boottime.Clock) (h Holder, since time.Time) {
	var r Record
	if len(value) > RecordMax || !strings.HasPrefix(value, `{"run":"`) ||
		json.Unmarshal([]byte(value), &r) != nil || len(r.Run) != RunIDLen {
		return Holder{Foreign: value[:min(len(value), RecordMax)]}, time.Time{}
	}
	return r.Holder(), r.Since(now, clock)
}

// Since is when the lock of a record was taken on our clock, the store's being now; zero
// if nobody knows, or if only the rest of its min-hold is left.
func (r Record) Since(now int64, clock *boottime.Clock) time.Time {
	if r.At <= 0 || r.Ended > 0 || now <= 0 {
		return time.Time{}
	}
	return clock.Now().Add(-time.Duration(now-r.At) * time.Millisecond)
}

// Holder is who wrote the record.
func (r Record) Holder() Holder {
	h := Holder{Run: r.Run, Host: r.Host, PID: r.PID, User: r.User, Command: r.Command, Start: time.UnixMilli(r.Start)}
	if r.Ended > 0 {
		h.Ended = time.UnixMilli(r.Ended)
	}
	return h
}

// Kept is what is left of an ended run's min-hold. A clock that has gone back
// behind the run's end leaves nothing.
func (r Record) Kept() time.Duration {
	now := time.Now().UnixMilli()
	if r.Ended == 0 || now < r.Ended {
		return 0
	}
	return time.Duration(max(0, r.Until-now)) * time.Millisecond
}
