package lock

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// recordMax bounds what is read of a key's value; a record of ours is shorter.
const recordMax = 1024

// A record is the value of a lock: one line of JSON that begins with the run
// id. Fence, At and Ended are written by the store.
type record struct {
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

func recordOf(h Holder) record {
	return record{
		Run: h.Run, Version: 1, Host: short(h.Host, 64), PID: h.PID, User: short(h.User, 32), Command: short(h.Command, 44),
		Start: h.Start.UnixMilli(),
	}
}

// String is the record as it is written: what encoding/json would make of it,
// which for the sake of one record finds out how records are written.
func (r record) String() string {
	b := appendText([]byte(`{"run":`), r.Run)
	b = appendNumber(b, "ended", r.Ended)
	b = append(strconv.AppendInt(append(b, `,"v":`...), int64(r.Version), 10), `,"host":`...)
	b = append(appendText(b, r.Host), `,"pid":`...)
	b = append(strconv.AppendInt(b, int64(r.PID), 10), `,"user":`...)
	b = append(appendText(b, r.User), `,"cmd":`...)
	b = append(appendText(b, r.Command), `,"start":`...)
	b = strconv.AppendInt(b, r.Start, 10)
	b = appendNumber(b, "fence", r.Fence)
	b = appendNumber(b, "at", r.At)
	b = appendNumber(b, "until", r.Until)
	return string(append(b, '}'))
}

func appendText(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("marshal text: " + err.Error()) // there is none that it refuses
	}
	return append(b, quoted...)
}

// appendNumber leaves out a zero.
func appendNumber(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(append(append(b, `,"`...), name...), `":`...), n, 10)
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

// holderOf reads a value that may be anybody's.
func holderOf(value string) Holder {
	var r record
	if len(value) > recordMax || !strings.HasPrefix(value, `{"run":"`) ||
		json.Unmarshal([]byte(value), &r) != nil || len(r.Run) != runIDLen {
		return Holder{Foreign: value[:min(len(value), recordMax)]}
	}
	return r.holder()
}

func (r record) holder() Holder {
	h := Holder{Run: r.Run, Host: r.Host, PID: r.PID, User: r.User, Command: r.Command, Start: time.UnixMilli(r.Start)}
	if r.Ended > 0 {
		h.Ended = time.UnixMilli(r.Ended)
	}
	return h
}

// fenceOf is the fence in a record; 0 if there is none.
func fenceOf(value string) int64 {
	var r record
	_ = json.Unmarshal([]byte(value), &r) // a value that is anybody's has none
	return r.Fence
}
