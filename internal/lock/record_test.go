package lock

import (
	"encoding/json"
	"testing"
)

// The scripts cut a record at fixed offsets; readers parse it as JSON.
func FuzzARecordIsWrittenAsEncodingJSONWouldWriteIt(f *testing.F) {
	f.Add("web-1", 4711, "deploy", "php", int64(1700000000000), int64(0), int64(7), int64(8), int64(0))
	f.Add("", -1, "\x00\xff<&>\u2028\"\\", "\t\n{}%", int64(-5), int64(1), int64(0), int64(0), int64(9))
	f.Fuzz(func(t *testing.T, host string, pid int, user, command string, start, ended, fence, at, until int64) {
		r := record{
			Run: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Ended: ended, Version: 1, Host: host, PID: pid, User: user, Command: command,
			Start: start, Fence: fence, At: at, Until: until,
		}
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.String(); got != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}
