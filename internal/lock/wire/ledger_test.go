package wire

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

func TestTheLedgerOfAJobIsReadFieldByField(t *testing.T) {
	open := lock.Entry{Run: lock.NewRunID(), Host: "web-3", At: time.UnixMilli(1795344187661), Status: -1}
	var j lock.Job
	text := EntryText(open)
	strange := ReadLedger(&j, []string{text, "garbage", "", "20 125000", "", text + "\n" + text,
		"93600000 1795344187661", "x", "", open.Run + " a%0Ab", "41", "-1", "x"})
	if j.Open != open || j.Mean != 125*time.Second || len(j.Unresolved) != 2 ||
		j.Tail != (lock.Tail{Run: open.Run, Text: "a\nb"}) || len(j.Counts) != 1 ||
		j.Counts[lock.EndOk] != 41 || j.LastEnd != (lock.Entry{}) {
		t.Errorf("%+v", j)
	}
	if !slices.Equal(strange, []string{"last", "max_age_since", "count:failed", "count:signal"}) {
		t.Errorf("strange: %q", strange)
	}
}

func TestAnExpectationIsReadWhoeverWroteIt(t *testing.T) {
	const id, other = "01AAAAAAAAAAAAAAAAAAAAAAAA", "01BBBBBBBBBBBBBBBBBBBBBBBB"
	for text, want := range map[string]lock.Job{
		"93600000 1795344187661": {MaxAge: 26 * time.Hour, MaxAgeFence: 1795344187661},
		"93600000 0":             {MaxAge: 26 * time.Hour},
		"0 7":                    {MaxAgeFence: 7},
		"3888000000 7":           {MaxAge: 45 * 24 * time.Hour, MaxAgeFence: 7},
	} {
		var j lock.Job
		if !readField(&j, maxAgeField, text) || j.MaxAge != want.MaxAge || j.MaxAgeFence != want.MaxAgeFence {
			t.Errorf("%q is %v of fence %d", text, j.MaxAge, j.MaxAgeFence)
		}
	}
	for _, text := range []string{"", "x", "93600000", "93600000 x", "-1 7", "3888000001 7", "99999999999999999999 7",
		"7 -1"} {
		var j lock.Job
		if readField(&j, maxAgeField, text) || j.MaxAge != 0 || j.MaxAgeFence != 0 {
			t.Errorf("%q is %v of fence %d", text, j.MaxAge, j.MaxAgeFence)
		}
	}
	var j lock.Job
	if !readField(&j, pausesField, id+"/1000/2000 "+other+"/3000/0") || len(j.Pauses) != 2 ||
		j.Pauses[0] != (lock.PauseSpan{ID: id, Since: time.UnixMilli(1000), Until: time.UnixMilli(2000)}) ||
		j.Pauses[1] != (lock.PauseSpan{ID: other, Since: time.UnixMilli(3000)}) {
		t.Errorf("%+v", j.Pauses)
	}
	if readField(&j, pausesField, "x "+id+"/1000 "+id+"/x/2 "+id+"/1/x/ short/1/2 "+id+"/1000/2000") ||
		len(j.Pauses) != 1 {
		t.Errorf("%+v", j.Pauses)
	}
}

func TestANameIsFoundInEachOfItsKeys(t *testing.T) {
	for _, name := range []string{"job", "50%", "{a}", "%7B", "a}b{c", "a:b", "%", "ä ö", lock.GateOf("job"),
		lock.PermitOf("a}b{c/1", 1), lock.PermitOf(strings.Repeat("x", MaxName), lock.MostPermits)} {
		k := KeysOf("p:", name, "")
		for _, key := range []string{k.Lock, k.Fence, k.Queue, k.Waiters, k.Slots, k.Paused, k.Job, k.Runs, k.Bad,
			k.Output} {
			if got := NameOf("p:", key); got != name {
				t.Errorf("%q of %q, not %q", got, key, name)
			}
		}
	}
	for _, key := range []string{
		"", "p:", "p:jobs", "p:{}", "p:{x", "p:x}", "q:{x}", "p:{x}y", "p:{x}:gone:01AAAA", "p:{%7b}", "p:{%}",
		"p:{x}/", "p:{x}/0", "p:{x}/65", "p:{x}/01", "p:{x}/1/2", "p:{x}/gate2", "p:{x}/1:gone:01AAAA", "p:{}/1",
		"p:{" + strings.Repeat("x", 513) + "}",
	} {
		if got := NameOf("p:", key); got != "" {
			t.Errorf("%q of %q", got, key)
		}
	}
}

// All locks of one name are in one slot of a Cluster, and none of them is the lock of another name.
func TestThePartsOfANameShareItsHashTag(t *testing.T) {
	k := KeysOf("p:", lock.PermitOf("a{b", 2), "R")
	if k.Lock != "p:{a%7Bb}/2" || k.Fence != "p:{a%7Bb}/2:fence" || k.Tombstone != "p:{a%7Bb}/2:gone:R" {
		t.Errorf("%+v", k)
	}
	if gate := KeysOf("p:", lock.GateOf("job"), "").Queue; gate != "p:{job}/gate:queue" {
		t.Error(gate)
	}
}

func TestAPauseIsReadWhoeverWroteIt(t *testing.T) {
	const id = "01AAAAAAAAAAAAAAAAAAAAAAAA"
	p := ReadPause(`{"pause":"` + id + `","v":1,"by":"alice@desk","why":"deploy","since":1795344187661,"until":0}`)
	if p == nil || *p != (lock.PauseMark{ID: id, By: "alice@desk", Reason: "deploy",
		Since: time.UnixMilli(1795344187661)}) {
		t.Errorf("%+v", p)
	}
	long := strings.Repeat("x", 1024)
	for _, text := range []string{"", "x", `{"pause":"short"}`, `{"pause":"` + id + `"`,
		`{"pause":"` + id + `","why":"` + long + `"}`} {
		if p := ReadPause(text); p != nil {
			t.Errorf("%q is %+v", text, p)
		}
	}
}

func TestAWaiterOfAnyReleaseIsRead(t *testing.T) {
	run := lock.NewRunID()
	record := `{"run":"` + run + `","v":1,"host":"web-3","pid":7,"user":"u","cmd":"c","start":5,"asked":1795344187661}`
	want := lock.Waiter{Run: run, Host: "web-3", PID: 7, Since: time.UnixMilli(1795344187661)}
	if w := ReadWaiter(run, "1795344187661 1 "+record); w != want {
		t.Errorf("%+v", w)
	}
	want.Slot = "5m 2026-03-01T12:05Z"
	if w := ReadWaiter(run, "1795344187661 1 5m%202026-03-01T12:05Z 2 "+record); w != want {
		t.Errorf("%+v", w)
	}
	want.Since = time.Time{} // its last look is not when it came
	if w := ReadWaiter(run, "1795344187661 1 5m%202026-03-01T12:05Z 2 "+strings.Replace(record,
		`,"asked":1795344187661`, "", 1)); w != want {
		t.Errorf("%+v", w)
	}
	for _, text := range []string{"", "1 1", record, "1 1 " + record[:20],
		"1 1 " + strings.Replace(record, run, lock.NewRunID(), 1)} {
		if w := ReadWaiter(run, text); w != (lock.Waiter{Run: run}) {
			t.Errorf("%q is %+v", text, w)
		}
	}
}

// Any client may have written what is in a store.
func FuzzWhatIsReadOfAJob(f *testing.F) {
	run := lock.NewRunID()
	for _, text := range []string{
		"", EntryText(lock.Entry{Run: run, End: lock.EndOk}), "20 125000", "41",
		`{"run":"` + run + `","v":1,"ttl":60000,"every":-1,"at":1,"fence":7}`,
		`{"pause":"` + run + `","since":9223372036854775807}`, `1 1 - 2 {"run":"` + run + `"}`, "open 1 " + run + "/h",
		"redlockrun:{%25}:job", `{"run":"` + run + `","start":-9223372036854775808,"asked":-9223372036854775808}`,
	} {
		f.Add(text, int64(1000), int64(1795344187661))
	}
	f.Fuzz(func(t *testing.T, text string, left, now int64) {
		j := lock.Job{Now: instantOf(now), Left: time.Duration(left), Pause: ReadPause(text)}
		j.Holder, j.At, j.Fence = ReadHeld(text)
		ReadLedger(&j, []string{text, text, text, text, text, text, text})
		entries, _ := ReadEntries([]string{text, text})
		if len(entries) > 2 || StateOfHeld(&j, false) == "" || StateOfFree(&j) == "" || j.Mean < 0 || j.Fence < 0 {
			t.Errorf("%+v", j)
		}
		ReadWaiter(run, text)
		ReadSlot(text)
		SlotTouched(text)
		if name := NameOf(lock.DefaultPrefix, text); name != "" &&
			!strings.HasPrefix(text, KeysOf(lock.DefaultPrefix, name, "").Lock) {
			t.Errorf("%q of %q", name, text)
		}
	})
}
