package report

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/ledgers"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// jobs are one of each kind.
func jobs() []lock.Job {
	all := []lock.Job{
		{Name: "nightly-report", State: lock.StateIdle,
			LastEnd: ledgers.Over('A', lock.EndFailed, 1, 680*time.Second, 2*time.Hour),
			Mean:    680 * time.Second},
		{Name: "search-index", State: lock.StateSilent, Holder: ledgers.Holder('B', "web-1"),
			At:      ledgers.Before(31 * time.Minute),
			Left:    12 * time.Second,
			LastEnd: ledgers.Over('A', lock.EndOk, 0, 8*time.Minute, time.Hour), Mean: 8 * time.Minute},
		{Name: "cancel-orders", State: lock.StateRunning, Holder: ledgers.Holder('B', "web-3"),
			At:      ledgers.Before(133 * time.Second),
			Left:    41 * time.Second,
			Waiting: 2, LastEnd: ledgers.Over('A', lock.EndOk, 0, 125*time.Second, 4*time.Minute),
			Mean: 125 * time.Second},
		{Name: "invoices", State: lock.StatePaused, Waiting: 5,
			LastEnd: ledgers.Over('A', lock.EndOk, 0, 3*time.Second, 25*time.Hour),
			Mean:    3 * time.Second,
			Pause: &lock.PauseMark{By: "alice@desk", Reason: "deploy", Since: ledgers.Before(time.Hour),
				Until: ledgers.Now.Add(time.Hour)}},
		{Name: "gone", State: lock.StateVanished,
			Open: lock.Entry{Run: ledgers.Run('Z'), Host: "web-9", PID: 7, At: ledgers.Before(49 * time.Hour),
				Status: -1}},
		{Name: "no end", State: lock.StateStuck, Holder: ledgers.Holder('B', "web-2"),
			At: ledgers.Before(50 * time.Second), Left: -1,
			LastEnd: ledgers.Over('A', lock.EndSignal, 137, time.Second, time.Second)},
		{Name: "theirs\x1b[31m", State: lock.StateForeign, Holder: lock.Holder{Foreign: "some\x1b]0;body"},
			Left: 9 * time.Second},
		{Name: "rest", State: lock.StateEnded,
			Holder: lock.Holder{Run: ledgers.Run('B'), Host: "web-4", Ended: ledgers.Before(5 * time.Second)},
			At:     ledgers.Before(time.Minute), Left: 55 * time.Second,
			LastEnd: ledgers.Over('B', lock.EndOk, 0, 40*time.Millisecond, 5*time.Second), Mean: 40 * time.Millisecond},
		{Name: "handed over", State: lock.StateStarting, Holder: ledgers.Holder('B', "web-5"),
			At:   ledgers.Before(time.Second),
			Left: 900 * time.Millisecond},
		{Name: "soon paused", State: lock.StateRunning, Holder: ledgers.Holder('B', "web-6"),
			At: ledgers.Before(time.Second), Left: time.Minute,
			Pause: &lock.PauseMark{By: "bob@desk"}},
		{Name: "unheard of", State: lock.StateIdle},
		{Name: "backup", State: lock.StateIdle, LastEnd: ledgers.Over('A', lock.EndOk, 0, time.Minute, 28*time.Hour),
			MaxAge: 26 * time.Hour},
		{Name: "hangs", State: lock.StateRunning, Holder: ledgers.Holder('B', "web-5"),
			At: ledgers.Before(9 * time.Hour), Left: time.Minute,
			MaxAge: time.Hour, MaxAgeSince: ledgers.Before(9 * time.Hour)},
	}
	for i := range all {
		all[i].Now = ledgers.Now
	}
	return all
}

// golden compares lines with a file of testdata.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path, got := filepath.Join("testdata", name), strings.Join(lines, "\n")+"\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s: %v\n--- got\n%s--- want\n%s", name, err, got, want)
	}
}

// displays are those that tables and pages are looked at on.
var displays = map[string]console.Display{
	"60": {Width: 60}, "80": {Width: 80}, "200": {Width: 200}, "none": {}, "80-color": {Width: 80, Color: true},
}

// narrow fails the test if a line is wider than the display.
func narrow(t *testing.T, lines []string, d console.Display) {
	t.Helper()
	for _, line := range lines {
		if d.Width > 0 && !d.Color && console.Width(line) > d.Width {
			t.Errorf("%d columns in %d: %s", console.Width(line), d.Width, line)
		}
		if strings.HasSuffix(line, " ") || !d.Color && strings.ContainsRune(line, '\x1b') {
			t.Errorf("line %q", line)
		}
	}
}

func TestTheTableOfJobs(t *testing.T) {
	for name, d := range displays {
		lines := Jobs(JobChoice{}.Of(jobs())).Lines(d)
		narrow(t, lines, d)
		golden(t, "jobs-"+name+".txt", lines)
	}
}

func TestThePageOfAJob(t *testing.T) {
	j := jobs()[2]
	j.Fence = 1763790000999
	j.Slots = []lock.JobSlot{{Name: "5m 2026-03-01T12:30Z", SlotState: lock.SlotState{
		Begun:    lock.Try{Run: ledgers.Run('B')},
		Failures: []lock.Try{{Run: ledgers.Run('A'), Host: "web-1", End: lock.EndFailed, Status: 1}},
	}}}
	j.Pause = &lock.PauseMark{
		By: "alice@desk", Reason: "the database is moved to its new host", Since: ledgers.Before(time.Minute),
		Until: ledgers.Now.Add(time.Hour),
	}
	j.Waiters = []lock.Waiter{{Run: ledgers.Run('D'), Host: "web-4", PID: 12, Since: ledgers.Before(2 * time.Minute),
		Slot: "5m 2026-03-01T12:25Z"},
		{Run: ledgers.Run('E'), Host: "web-5", PID: 13, Since: ledgers.Before(time.Minute)}}
	j.Waiting = 12
	j.Runs = entries()
	j.LastSuccess = ledgers.Over('F', lock.EndOk, 0, time.Minute, 5*time.Minute)
	j.Stopped = lock.Entry{Run: ledgers.Run('B'), Host: "desk", User: "alice", Act: lock.ActStop,
		Ended:  ledgers.Before(5 * time.Second),
		Reason: "wrong data"}
	j.Runs = append([]lock.Entry{j.Stopped}, j.Runs...)
	for name, d := range displays {
		lines := Page(j, ledgers.Zone, d)
		narrow(t, lines, d)
		golden(t, "page-"+name+".txt", lines)
	}
}

// A stop belongs to the run that it asked to stop. A later run does not show it.
func TestAStopIsNotSaidOfLaterRuns(t *testing.T) {
	stop := lock.Entry{Run: ledgers.Run('B'), Host: "desk", User: "alice", Act: lock.ActStop,
		Ended: ledgers.Before(time.Minute)}
	stopped := ledgers.Over('A', lock.EndStopped, 143, 2*time.Minute, 50*time.Second)
	idle := lock.Job{Name: "orders", State: lock.StateIdle, Now: ledgers.Now, LastEnd: stopped, Stopped: stop}
	since, again := idle, idle
	since.LastEnd = ledgers.Over('C', lock.EndOk, 0, time.Second, time.Second)
	again.State, again.Left = lock.StateRunning, time.Minute
	again.Holder, again.At = lock.Holder{Run: ledgers.Run('D'), Host: "web-3"}, ledgers.Before(10*time.Second)
	for name, c := range map[string]struct {
		job  lock.Job
		said bool
	}{
		"the run that was stopped ends":  {idle, true},
		"another has ended well since":   {since, false},
		"another has been started since": {again, false},
	} {
		page := strings.Join(Page(c.job, ledgers.Zone, console.Display{}), "\n")
		if strings.Contains(page, "alice@desk") != c.said {
			t.Errorf("%s:\n%s", name, page)
		}
	}
}

func TestThePageOfEachKindOfJob(t *testing.T) {
	var lines []string
	for _, j := range jobs() {
		page := Page(j, ledgers.Zone, console.Display{Width: 80})
		narrow(t, page, console.Display{Width: 80})
		lines = append(append(lines, page...), "--")
	}
	golden(t, "pages.txt", lines)
}

// entries are one of each kind, newest first.
func entries() []lock.Entry {
	late := ledgers.Over('G', lock.EndOk, 0, 90*time.Second, 40*time.Minute)
	late.Lost, late.Attempts, late.Slot = true, 3, "5m 2026-03-01T11:45Z"
	return []lock.Entry{
		ledgers.Over('A', lock.EndOk, 0, 125*time.Second, 4*time.Minute),
		ledgers.Over('B', lock.EndFailed, 1, 12*time.Second, 10*time.Minute),
		{Run: ledgers.Run('B'), Host: "desk", User: "alice", Act: lock.ActPause,
			Ended: ledgers.Before(20 * time.Minute), Status: -1,
			Reason: "a deploy\x1b[2J"},
		ledgers.Over('C', lock.EndSignal, 139, 340*time.Millisecond, 30*time.Minute),
		late,
		ledgers.Over('D', lock.EndTimeout, 124, time.Hour, time.Hour),
		{Run: ledgers.Run('E'), Host: "web-9", At: ledgers.Before(26 * time.Hour),
			Ended: ledgers.Before(25 * time.Hour), End: lock.EndVanished,
			Status: -1},
		ledgers.Over('F', lock.EndUnstarted, 127, time.Millisecond, 27*time.Hour),
		{Run: ledgers.Run('H'), Status: -1, End: "new\x1b"},
	}
}

func TestTheTableOfRuns(t *testing.T) {
	for name, d := range displays {
		lines := History(entries(), Longest(entries()), ledgers.Zone).Lines(d)
		narrow(t, lines, d)
		golden(t, "history-"+name+".txt", append(lines, Memory(lock.Job{Now: ledgers.Now}, entries(), ledgers.Zone)))
	}
}

func TestObjectsForPrograms(t *testing.T) {
	var lines []string
	all := jobs()
	all[2].Runs, all[2].Waiters = entries()[:1],
		[]lock.Waiter{{Run: ledgers.Run('D'), Host: "web-4", Since: ledgers.Before(2 * time.Minute)}}
	all[2].Slots = []lock.JobSlot{{Name: "night", SlotState: lock.SlotState{Begun: lock.Try{Run: ledgers.Run('B')}}}}
	for _, j := range all {
		lines = append(lines, string(console.Object(JobObject(j))))
	}
	for _, e := range entries() {
		lines = append(lines, string(console.Object(OutputObject(e, nil))))
	}
	for _, line := range lines {
		steers := func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x9b }
		if !json.Valid([]byte(line)) || strings.ContainsFunc(line, steers) {
			t.Errorf("%q", line)
		}
	}
	golden(t, "objects.txt", lines)
}

func names(jobs []lock.Job) (names []string) {
	for _, j := range jobs {
		names = append(names, j.Name)
	}
	return names
}

func TestTheChoiceOfJobs(t *testing.T) {
	for _, c := range []struct {
		choice JobChoice
		want   []string
	}{
		{JobChoice{Running: true}, []string{"no end", "search-index", "hangs", "cancel-orders", "handed over",
			"soon paused"}},
		{JobChoice{Paused: true}, []string{"soon paused", "invoices"}},
		{JobChoice{Bad: true}, []string{"gone", "no end", "search-index", "nightly-report", "theirs\x1b[31m",
			"backup", "hangs"}},
		{JobChoice{Bad: true, Running: true}, []string{"no end", "search-index", "hangs"}},
		{JobChoice{Host: "web-9"}, []string{"gone"}},
		{JobChoice{Host: "desk"}, nil},
	} {
		if got := names(c.choice.Of(jobs())); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.choice, got, c.want)
		}
	}
}

// many are jobs of a fleet: so many that failed, run, are paused, and idle.
func many(failed, running, paused, idle int) (all []lock.Job) {
	add := func(count int, name string, j lock.Job) {
		for i := range count {
			j.Name, j.Now = fmt.Sprintf("%s-%d", name, i), ledgers.Now
			all = append(all, j)
		}
	}
	add(idle, "a", lock.Job{State: lock.StateIdle, LastEnd: ledgers.Over('A', lock.EndOk, 0, 1, time.Hour)})
	add(paused, "b", lock.Job{State: lock.StatePaused})
	add(running, "c", lock.Job{State: lock.StateRunning, Holder: ledgers.Holder('B', "web-1")})
	add(failed, "z", lock.Job{State: lock.StateIdle, LastEnd: ledgers.Over('A', lock.EndFailed, 1, 1, time.Hour)})
	return JobChoice{}.Of(all)
}

func TestAListWithoutRoomCountsTheJobsThatItCuts(t *testing.T) {
	for _, c := range []struct {
		jobs  []lock.Job
		room  int
		last  string
		lines int
	}{
		{many(2, 3, 1, 40), 10, "and 38 more idle", 10},
		{many(2, 3, 1, 40), 6, "and 1 more running, 1 paused, 40 idle", 6},
		{many(2, 3, 1, 40), 4, "and 3 more running, 1 paused, 40 idle", 4},
		{many(12, 3, 0, 1), 4, "and 10 more needing attention, 3 running, 1 idle", 4},
		{many(1, 0, 0, 1), 1, "and 1 more needing attention, 1 idle", 1},
	} {
		lines := JobLines(c.jobs, console.Display{Width: 80}, c.room)
		if len(lines) != c.lines || lines[len(lines)-1] != c.last {
			t.Errorf("in %d lines:\n%s", c.room, strings.Join(lines, "\n"))
		}
	}
	for room, style := range map[int]string{3: "\x1b[31m", 8: "\x1b[2m"} { // one that is bad is cut, or none
		lines := JobLines(many(2, 3, 0, 9), console.Display{Width: 80, Color: true}, room)
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, style+"and ") {
			t.Errorf("in %d lines: %q", room, last)
		}
	}
	for _, room := range []int{0, 7, 8} {
		all := JobLines(many(1, 1, 1, 3), console.Display{Width: 80}, room)
		if len(all) != 7 || strings.HasPrefix(all[6], "and ") {
			t.Errorf("in %d lines:\n%s", room, strings.Join(all, "\n"))
		}
	}
}

func TestTheChoiceOfRuns(t *testing.T) {
	for _, c := range []struct {
		choice RunChoice
		want   string
	}{
		{RunChoice{}, "ABBCGDEFH"},
		{RunChoice{Most: 2}, "AB"},
		{RunChoice{Bad: true}, "BCDEFH"},
		{RunChoice{Since: 30 * time.Minute}, "ABBC"},
		{RunChoice{Host: "web-9"}, "E"},
		{RunChoice{Bad: true, Most: 1, Since: 26 * time.Hour, Host: "web-9"}, "E"},
	} {
		got := ""
		for _, e := range c.choice.Of(entries(), ledgers.Now) {
			got += e.Run[len(e.Run)-1:]
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.choice, got, c.want)
		}
	}
}

func TestARunThatHasVanishedIsAmongTheRunsOnce(t *testing.T) {
	j := jobs()[4]
	j.Runs = entries()
	if all := Complete(j, j.Runs); len(all) != len(j.Runs)+1 || all[0].Run != ledgers.Run('Z') ||
		all[0].End != lock.EndVanished {
		t.Errorf("%+v", all)
	}
	if again := Complete(j, Complete(j, j.Runs)); len(again) != len(j.Runs)+1 {
		t.Errorf("%d, want %d", len(again), len(j.Runs)+1)
	}
}

func TestTriesThatHaveFailed(t *testing.T) {
	begun := lock.JobSlot{Name: "s", SlotState: lock.SlotState{Begun: lock.Try{Run: ledgers.Run('B')},
		Failures: []lock.Try{{Run: ledgers.Run('A')}}}}
	for _, c := range []struct {
		state  lock.State
		holder byte
		want   int
	}{{lock.StateRunning, 'B', 1}, {lock.StateRunning, 'C', 2}, {lock.StateIdle, 0, 2}, {lock.StateVanished, 0, 2},
		{lock.StateStarting, 'C', 1}} {
		j := lock.Job{State: c.state, Slots: []lock.JobSlot{begun}}
		if c.holder != 0 {
			j.Holder.Run = ledgers.Run(c.holder)
		}
		if tries, known := failed(j, "s"); !known || len(tries) != c.want {
			t.Errorf("%s %c: %d, want %d", c.state, c.holder, len(tries), c.want)
		}
	}
}

func TestLengthsAndAges(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		-time.Second:                {"0s", "0s ago"},
		40 * time.Millisecond:       {"40ms", "0s ago"},
		3 * time.Second:             {"3s", "3s ago"},
		3250 * time.Millisecond:     {"3.2s", "3s ago"},
		59999 * time.Millisecond:    {"59s", "59s ago"},
		125 * time.Second:           {"2m05s", "2m ago"},
		8 * time.Minute:             {"8m", "8m ago"},
		3*time.Hour + 5*time.Minute: {"3h05m", "3h ago"},
		25 * time.Hour:              {"25h", "1d ago"},
		49 * time.Hour:              {"2d01h", "2d ago"},
		1<<63 - 1:                   {"106751d23h", "106751d ago"},
		-1 << 63:                    {"0s", "0s ago"},
	} {
		if got := [2]string{Took(d), Ago(d)}; got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func TestAnEntryOfAnybodyIsShown(t *testing.T) {
	for _, text := range []string{
		ledgers.Run('A') + " %1b[2J %0a -1 %9b %07 -5 -7 99999999999999999 1 0 %1b]0 999",
		ledgers.Run('A') + " - - 0 - - 0 0 5 3 1 ok 0 lost=1 why=%1b",
		ledgers.Run('A') + " - - 0 - - 0 0 0 0",
		"- desk alice 0 - - 0 0 0 0 5 pause - why=%1b[31m",
	} {
		e, ok := wire.ReadEntry(text)
		if !ok {
			t.Fatalf("%q is none", text)
		}
		j := lock.Job{Name: "x", State: lock.StateVanished, Now: ledgers.Now, Open: e, LastEnd: e, LastSuccess: e,
			Runs: []lock.Entry{e, e}}
		narrow(t, Page(j, ledgers.Zone, console.Display{}), console.Display{Width: 1000})
		narrow(t, Jobs([]lock.Job{j}).Lines(console.Display{}), console.Display{Width: 1000})
		if line := console.Object(JobObject(j)); !json.Valid(line) || strings.ContainsRune(string(line), 0x9b) {
			t.Errorf("%q", line)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add(ledgers.Run('A')+" - - 0 - - 0 0 5 3 1 ok 0 lost=1 why=x", "closed 1 "+ledgers.Run('A')+"/web-1/ok/0/5", 80)
	f.Add(ledgers.Run('A')+" %1b - 0 - - 0 0 5 3", "open 1 - "+ledgers.Run('A')+"/%1b/failed/1/5", 3)
	f.Fuzz(func(t *testing.T, entry, slot string, width int) {
		e, _ := wire.ReadEntry(entry)
		j := lock.Job{
			Name: entry, State: lock.StateVanished, Now: ledgers.Now, Open: e, LastEnd: e, LastSuccess: e,
			Runs: []lock.Entry{e, e}, Waiting: 3,
			Slots:   []lock.JobSlot{{Name: slot, SlotState: wire.ReadSlot(slot)}},
			Waiters: []lock.Waiter{{Run: slot, Host: entry}},
			Pause:   &lock.PauseMark{By: entry, Reason: slot},
		}
		d := console.Display{Width: max(40, width%300)}
		narrow(t, Jobs([]lock.Job{j}).Lines(d), d)
		for _, line := range Page(j, ledgers.Zone, d) {
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
				t.Errorf("line %q", line)
			}
		}
		if !json.Valid(console.Object(JobObject(j))) {
			t.Error("no JSON")
		}
	})
}

func TestARunThatASignalEndedSaysWhich(t *testing.T) {
	for status, want := range map[int]string{
		137: "killed (SIGKILL)", 143: "killed (SIGTERM)", 139: "killed (SIGSEGV)", 135: "killed (signal 7)",
		162: "killed (signal 34)",
		0:   "killed", -1: "killed", 128: "killed",
	} {
		if got := EndOf(ledgers.Over('A', lock.EndSignal, status, time.Second, time.Second)).Text; got != want {
			t.Errorf("%d: %q", status, got)
		}
	}
}
