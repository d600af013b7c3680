package wire

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

// The scripts read a record's head by a pattern, and a value longer than RecordMax is
// taken for another program's.
func FuzzARecordBeginsWithItsRunAndIsReadBack(f *testing.F) {
	f.Add("web-1", 4711, "deploy", "php", int64(1700000000000))
	f.Add("", -1, "\x00\xff<&>\u2028\"\\", "\t\n{}%", int64(-5))
	f.Add(strings.Repeat("\x01", 300), 1, strings.Repeat("<", 300), strings.Repeat("\xff", 300), int64(1)<<52)
	f.Fuzz(func(t *testing.T, host string, pid int, user, command string, start int64) {
		const run = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
		text := RecordOf(lock.Holder{Run: run, Host: host, PID: pid, User: user, Command: command,
			Start: time.UnixMilli(start)}).String()
		if !strings.HasPrefix(text, `{"run":"`+run+`"`) || strings.Contains(text, "\n") || len(text) > RecordMax {
			t.Errorf("%d bytes: %s", len(text), text)
		}
		if got := holderIn(text); got.Run != run || got.PID != pid || got.Start.UnixMilli() != start {
			t.Errorf("%s is read as %+v", text, got)
		}
	})
}

func holderIn(value string) lock.Holder {
	h, _ := ReadRecord(value, 0, nil)
	return h
}

// With all that each store adds, the longest record has room in what scripts read of it.
func TestTheLongestRecordHasRoom(t *testing.T) {
	odd := strings.Repeat("\x01", 300)
	r := RecordOf(lock.Holder{
		Run: strings.Repeat("N", lock.RunIDLen), Host: odd, User: odd, Command: odd, PID: 1 << 22,
		Start: time.UnixMilli(1763790000000),
		TTL:   7 * 24 * time.Hour, Every: 20 * time.Second, Boot: "0123456789abcdef",
		Permits: lock.MostPermits, All: true,
	})
	r.Ended, r.At = 1763790000000, 1763790000000
	const stop = `"stop":"01ARZ3NDEKTSV4RRFFQ69G5FAV",`
	inQuorum := len(r.String()) + len(`"vote":"00000001.00000000.00",`+stop)
	r.Fence = 1<<53 - 1
	r.Asked = 1763790000000
	inLine := len(r.String()) + len(stop)
	r.Asked = 0
	r.Until = 1763790000000
	if inFile := len(r.String()); max(inLine, inQuorum, inFile) >= RecordMax {
		t.Errorf("%d bytes in line, %d in a quorum, %d in a file; room for %d", inLine, inQuorum, inFile, RecordMax-1)
	}
}

// Any client of the server can put any value in the place of a record.
func FuzzAnyValueIsReadAsAHolder(f *testing.F) {
	f.Add(`{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV","v":1,"host":"a","pid":1,"start":1,"fence":2,"at":3}`,
		int64(1700000000000))
	f.Add(`{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV","ended":9223372036854775807,"at":9223372036854775807}`, int64(-1))
	f.Add(`{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV","at":9223372036854775807}`, int64(1))
	f.Add("any\x00\xffbytes", int64(0))
	f.Fuzz(func(t *testing.T, value string, now int64) {
		h, since := ReadRecord(value, now, nil)
		if h.Run == "" && (h.Foreign != value[:min(len(value), RecordMax)] || !since.IsZero()) {
			t.Errorf("somebody's %q is read as %+v since %v", value, h, since)
		}
		if h.Run != "" && (len(h.Run) != lock.RunIDLen || h.Foreign != "") {
			t.Errorf("%q is read as %+v", value, h)
		}
	})
}
