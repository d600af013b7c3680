package session

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/outfile"
)

func TestAReportReplacesThePreviousOne(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report")
	for _, status := range []int{3, 0} {
		if err := (Report{Status: status}).write(path); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		var got Report
		if err != nil || json.Unmarshal(text, &got) != nil || got.Status != status || text[len(text)-1] != '\n' {
			t.Errorf("%s, %v", text, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left there, %v", entries, err)
	}
}

func TestAReportThatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "fifo"):           outfile.ErrNoFile,
		dir:                                  outfile.ErrNoFile,
		filepath.Join(dir, "none", "report"): syscall.ENOENT,
		filepath.Join(dir, strings.Repeat("x", 256)): syscall.ENAMETOOLONG,
	} {
		if err := (Report{}).write(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left there, %v", entries, err)
	}
}

func TestAReportMayTakeASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, never := time.Now(), make(chan struct{})
		err := within(reportLimit, func() error { <-never; return nil })
		if took := time.Since(began); err == nil || took != time.Second {
			t.Errorf("%v after %v", err, took)
		}
		close(never)
	})
}

func TestWhatIsUnknownIsLeftOutOfAReport(t *testing.T) {
	yes := true
	all := Report{
		Key: "<job>", Run: "r", Slot: "5m 2026-03-01T12:05Z", Fence: 7, Host: "web-3",
		Asked: lock.Instant{Time: time.UnixMilli(1)},
		At:    lock.Instant{Time: time.UnixMilli(20)}, Ended: lock.Instant{Time: time.UnixMilli(1000)},
		How: lock.EndFailed, Status: 3, From: fromCommand,
		Recorded: &yes, Attempts: 2, Reason: "a\x1bb",
	}
	for want, a := range map[string]Report{
		`{"status":0,"from":""}`: {},
		`{"key":"<job>","run":"r","slot":"5m 2026-03-01T12:05Z","fence":7,"host":"web-3",` +
			`"asked":"1970-01-01T00:00:00.001Z",` +
			`"at":"1970-01-01T00:00:00.020Z","ended":"1970-01-01T00:00:01.000Z","how":"failed",` +
			`"status":3,"from":"command",` +
			`"recorded":true,"attempts":2,"reason":"a\u001bb"}`: all,
	} {
		if got, err := a.line(); err != nil || string(got) != want+"\n" {
			t.Errorf("%s, %v", got, err)
		}
	}
}
