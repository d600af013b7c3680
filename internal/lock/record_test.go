package lock

import (
	"strings"
	"testing"
	"time"
)

// The scripts cut a record at fixed offsets, and what is longer than RecordMax is
// taken for somebody else's.
func FuzzARecordBeginsWithItsRunAndIsReadBack(f *testing.F) {
	f.Add("web-1", 4711, "deploy", "php", int64(1700000000000))
	f.Add("", -1, "\x00\xff<&>\u2028\"\\", "\t\n{}%", int64(-5))
	f.Add(strings.Repeat("\x01", 300), 1, strings.Repeat("<", 300), strings.Repeat("\xff", 300), int64(1)<<52)
	f.Fuzz(func(t *testing.T, host string, pid int, user, command string, start int64) {
		const run = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
		text := RecordOf(Holder{Run: run, Host: host, PID: pid, User: user, Command: command, Start: time.UnixMilli(start)}).String()
		if !strings.HasPrefix(text, `{"run":"`+run+`"`) || strings.Contains(text, "\n") || len(text) > RecordMax {
			t.Errorf("%d bytes: %s", len(text), text)
		}
		if got := holderIn(text); got.Run != run || got.PID != pid || got.Start.UnixMilli() != start {
			t.Errorf("%s is read as %+v", text, got)
		}
	})
}

func holderIn(value string) Holder {
	h, _ := ReadRecord(value, 0, nil)
	return h
}

// Whoever can write to the server can put any value in the place of a record.
func FuzzAnyValueIsReadAsAHolder(f *testing.F) {
	f.Add(`{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV","v":1,"host":"a","pid":1,"start":1,"fence":2,"at":3}`, int64(1700000000000))
	f.Add(`{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV","ended":9223372036854775807,"at":9223372036854775807}`, int64(-1))
	f.Add(`{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV","at":9223372036854775807}`, int64(1))
	f.Add("any\x00\xffbytes", int64(0))
	f.Fuzz(func(t *testing.T, value string, now int64) {
		h, since := ReadRecord(value, now, nil)
		if h.Run == "" && (h.Foreign != value[:min(len(value), RecordMax)] || !since.IsZero()) {
			t.Errorf("somebody's %q is read as %+v since %v", value, h, since)
		}
		if h.Run != "" && (len(h.Run) != RunIDLen || h.Foreign != "") {
			t.Errorf("%q is read as %+v", value, h)
		}
	})
}
