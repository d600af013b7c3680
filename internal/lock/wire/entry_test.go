package wire

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

var oddEntry = lock.Entry{
	Run: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Host: "we b/1%", User: "-", PID: 4711, Command: "a=b",
	Slot: "5m 2026-03-01T12:05Z", Attempts: 3,
	Fence: 1763790000000, Asked: time.UnixMilli(1763790000001), At: time.UnixMilli(1763790000002),
	Ended: time.UnixMilli(1763790000003),
	End:   lock.EndFailed, Status: 1, Lost: true, Stood: 90 * time.Second,
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	act := lock.Entry{Host: "desk", User: "alice", Act: lock.ActPause, Status: -1, Ended: time.UnixMilli(5),
		Reason: "deploy 7 = new\n"}
	vanished := oddEntry
	vanished.End, vanished.Status = lock.EndVanished, -1
	open := oddEntry
	open.Ended, open.End, open.Status, open.Lost = time.Time{}, "", -1, false
	open.Stood = 0
	for _, e := range []lock.Entry{oddEntry, act, vanished, open} {
		if got, ok := ReadEntry(EntryText(e)); !ok || got != e {
			t.Errorf("%+v\nis written as %q and read as\n%+v", e, EntryText(e), got)
		}
	}
}

// A newer release may say more, behind what this one knows.
func TestAnEntrysFurtherWordsAreIgnored(t *testing.T) {
	for _, more := range []string{" colour=red", " colour", " =", " "} {
		if got, ok := ReadEntry(EntryText(oddEntry) + more); !ok || got != oddEntry {
			t.Errorf("with %q: %v, %+v", more, ok, got)
		}
	}
}

func TestAnEntryIsOneLineOfWords(t *testing.T) {
	if text := EntryText(oddEntry); strings.Count(text, " ") != entryWords+1 || strings.ContainsAny(text, "\n/") {
		t.Error(text)
	}
}

// Any client of the server can put anything in the place of an entry or a slot.
func FuzzAnythingIsReadAsAnEntryOrASlot(f *testing.F) {
	f.Add(EntryText(oddEntry))
	f.Add("- - - - - - - - - - - pause -")
	f.Add("open 5 - 01ARZ3NDEKTSV4RRFFQ69G5FAV/h/failed/1/7")
	f.Add("closed 5 01ARZ3NDEKTSV4RRFFQ69G5FAV/%/ok/999/99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		if e, ok := ReadEntry(text); ok {
			again, ok := ReadEntry(EntryText(e))
			if !ok || again != e {
				t.Errorf("%q is read as %+v, that as %+v", text, e, again)
			}
		}
		s := ReadSlot(text)
		for _, try := range append(s.Failures, s.Begun, s.By) {
			if try.Run != "" && len(try.Run) != lock.RunIDLen || try.Status > 255 {
				t.Errorf("%q is read as %+v", text, s)
			}
		}
	})
}

func TestASlotIsRead(t *testing.T) {
	const run = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	failed := lock.Try{Run: run, Host: "web 1", End: lock.EndFailed, Status: 3, Ended: time.UnixMilli(7)}
	s := ReadSlot("open 9 " + run + "/db " + run + "/web%201/failed/3/7 " + run + "/web%201/failed/3/7")
	if s.Closed || s.Begun.Run != run || s.Begun.Host != "db" || len(s.Failures) != 2 || s.Failures[1] != failed {
		t.Errorf("%+v", s)
	}
	if s := ReadSlot("open 9 -"); s.Closed || s.Begun.Run != "" || s.Failures != nil {
		t.Errorf("%+v", s)
	}
	if s := ReadSlot("open 9 x/db " + run[1:] + "/db/failed/3/7"); s.Begun.Run != "" || s.Failures != nil {
		t.Errorf("%+v has runs that are none", s)
	}
	if s := ReadSlot("closed 9 " + run + "/web/ok/0/7 " + strings.Repeat("x", maxSlotState)); s.Closed {
		t.Error("more was read than is kept of a slot")
	}
	failed.End, failed.Status = lock.EndOk, 0
	if s := ReadSlot("closed 9 " + run + "/web%201/ok/0/7"); !s.Closed || s.By != failed {
		t.Errorf("%+v", s)
	}
}
