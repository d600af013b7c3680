package page

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ledgers"
)

func load(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// named are the ticks that are named, as "text@left", with the date before it where one begins.
func namedTicks(line *timeline) string {
	var texts []string
	for _, k := range line.ticks() {
		if k.text == "" {
			continue
		}
		text := k.text
		if k.date != "" {
			text = "(" + k.date + ") " + text
		}
		texts = append(texts, fmt.Sprintf("%s@%d", text, k.left))
	}
	return strings.Join(texts, " ")
}

func TestTheAxisNamesTheTimeByTheClockOfItsZone(t *testing.T) {
	for _, c := range []struct {
		zone, until string
		length      time.Duration
		want        string
	}{
		{"Europe/Berlin", "2026-10-25T12:00:00+01:00", 24 * time.Hour, // 03:00 CEST became 02:00 CET
			"14:00@416 16:00@1250 18:00@2083 20:00@2916 22:00@3750 02:00 CEST@5416 02:00 CET@5833 " +
				"06:00@7500 08:00@8333 10:00@9166"},
		{"Europe/Berlin", "2026-03-29T12:00:00+02:00", 24 * time.Hour,
			"12:00@416 14:00@1250 16:00@2083 18:00@2916 20:00@3750 22:00@4583 (Sun 29 " +
				// 02:00 CET became 03:00 CEST
				"Mar) 00:00@5416 03:00 CEST@6250 04:00@6666 06:00@7500 08:00@8333 10:00@9166"},
		{"America/New_York", "2026-11-01T12:00:00-05:00", 12 * time.Hour,
			"01:00 EDT@0 01:00 EST@833 03:00@2500 04:00@3333 " +
				// 02:00 EDT became 01:00 EST
				"05:00@4166 06:00@5000 07:00@5833 08:00@6666 09:00@7500 10:00@8333 11:00@9166"},
		{"Australia/Lord_Howe", "2026-04-05T12:00:00+10:30", 12 * time.Hour, // 02:00 became 01:30
			"01:30 UTC+11@833 01:30 UTC+10:30@1250 03:00@2500 04:00@3333 " +
				"05:00@4166 06:00@5000 07:00@5833 08:00@6666 09:00@7500 10:00@8333 11:00@9166"},
		{"UTC", "2026-03-01T00:30:00Z", time.Hour,
			"23:30@0 23:35@833 23:40@1666 23:45@2500 23:50@3333 23:55@4166 (Sun " +
				"1 Mar) 00:00@5000 00:05@5833 00:10@6666 00:15@7500 00:20@8333 00:25@9166"},
		{"UTC", "2026-03-01T06:00:00Z", 7 * 24 * time.Hour,
			"Mon 23@1071 Tue 24@2500 Wed 25@3928 Thu 26@5357 Fri 27@6785 Sat 28@8214 Sun 1@9642"},
	} {
		until, err := time.Parse(time.RFC3339, c.until)
		if err != nil {
			t.Fatal(err)
		}
		line := newTimeline(nil, until, c.length, load(t, c.zone))
		if got := namedTicks(line); got != c.want {
			t.Errorf("%s until %s:\n got %s\nwant %s", c.zone, c.until, got, c.want)
		}
	}
}

// sample are some jobs as a fleet has them, over a day.
func sample(count int) []lock.Job {
	r := rand.New(rand.NewPCG(1, uint64(count)))
	var jobs []lock.Job
	for i := range count {
		jobs = append(jobs, sampleJob(r, i))
	}
	return jobs
}

func sampleJob(r *rand.Rand, i int) lock.Job {
	names := []string{"cancel-orders", "invoices", "search-index", "nightly-report", "newsletter", "backup",
		"thumbnails", "import-feed"}
	j := lock.Job{Name: names[i%len(names)], State: lock.StateIdle, Now: ledgers.Now,
		Counts: map[lock.EndKind]int64{lock.EndOk: 1000}}
	if i >= len(names) {
		j.Name += fmt.Sprintf("-%d", i/len(names))
	}
	period := []time.Duration{5 * time.Minute, 30 * time.Minute, 15 * time.Minute, 12 * time.Hour, 2 * time.Hour,
		6 * time.Hour}[i%6]
	long := period / time.Duration(2+r.IntN(12))
	for k := range 50 {
		at := ledgers.Now.Add(-time.Duration(k)*period - time.Duration(r.IntN(60))*time.Second - long)
		e := lock.Entry{
			Run: ledgers.Run('A' + byte(k%26)), Host: fmt.Sprintf("web-%d", 1+r.IntN(5)), User: "alice",
			PID: 4000 + k, Command: "php",
			Asked: at.Add(-time.Duration(r.IntN(3000)) * time.Millisecond), At: at, End: lock.EndOk, Attempts: 1,
		}
		e.Run = fmt.Sprintf("%s%02d", e.Run[:24], k)
		e.Ended = at.Add(long/2 + time.Duration(r.Int64N(int64(long/2))))
		if i%4 == 0 && r.IntN(12) == 0 {
			e.End = lock.EndKinds()[1+r.IntN(8)]
			e.Status = 1 + r.IntN(100)
		}
		j.Runs = append(j.Runs, e)
	}
	j.LastEnd, j.Mean = j.Runs[0], long*3/4
	switch i {
	case 0:
		j.State, j.Holder, j.At, j.Left, j.Waiting = lock.StateRunning, ledgers.Holder('B', "web-3"),
			ledgers.Before(133*time.Second),
			41*time.Second, 2
	case 1:
		j.State = lock.StatePaused
		j.Pause = &lock.PauseMark{By: "alice@desk", Reason: "deploy", Since: ledgers.Before(3 * time.Hour),
			Until: ledgers.Now.Add(time.Hour)}
		j.Runs = slices.DeleteFunc(j.Runs,
			func(e lock.Entry) bool { return e.Ended.After(ledgers.Before(3 * time.Hour)) })
	case 2:
		j.State, j.Holder, j.At, j.Left = lock.StateSilent, ledgers.Holder('B', "web-1"),
			ledgers.Before(50*time.Minute), 12*time.Second
		j.Runs = j.Runs[6:]
	case 3:
		j.State, j.Open = lock.StateVanished,
			lock.Entry{Run: ledgers.Run('Z'), Host: "web-9", PID: 7, At: ledgers.Before(7 * time.Hour),
				Status: -1}
	}
	return j
}

// onTheFirst is a time of the first of March, UTC.
func onTheFirst(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-03-01T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func TestARunOverMidnightIsOneBar(t *testing.T) {
	j := lock.Job{Name: "night", State: lock.StateIdle, Now: onTheFirst("12:00:00"), Runs: []lock.Entry{{
		Run: ledgers.Run('A'), Host: "web-1", At: onTheFirst("00:00:00").Add(-time.Hour),
		Ended: onTheFirst("02:00:00"), End: lock.EndOk,
	}}}
	line := newTimeline([]lock.Job{j}, j.Now, 24*time.Hour, time.UTC)
	if got := line.rows[0].spans; len(got) != 1 || got[0].place != (place{4583, 1250}) || got[0].early {
		t.Errorf("%+v", got)
	}
}

func TestARunLastsAsLongAsTheClocksChange(t *testing.T) {
	zone := load(t, "Europe/Berlin")
	at := time.Date(2026, 10, 25, 1, 30, 0, 0, zone)
	ended := at.Add(3 * time.Hour) // 03:30 by the clock
	j := lock.Job{Name: "night", State: lock.StateIdle, Now: ended,
		Runs: []lock.Entry{{Run: ledgers.Run('A'), At: at, Ended: ended, End: lock.EndOk}}}
	line := newTimeline([]lock.Job{j}, ended, 6*time.Hour, zone)
	if got := line.rows[0].spans[0]; got.place != (place{5000, 5000}) {
		t.Errorf("%+v", got)
	}
	if got := line.stamp(at.Add(time.Hour)); got != "Sun 02:30:00 CEST" {
		t.Error(got)
	}
	if got := line.stamp(at.Add(2 * time.Hour)); got != "Sun 02:30:00 CET" {
		t.Error(got)
	}
	if got := line.shifts(); len(got) != 1 || got[0].before != "03:00 CEST" || got[0].after != "02:00 CET" {
		t.Errorf("%+v", got)
	}
}

func TestARunOfWhichNobodyKnowsWhenIsCountedAndNotDrawn(t *testing.T) {
	j := lock.Job{Name: "a", State: lock.StateIdle, Now: ledgers.Now,
		Runs: []lock.Entry{{Run: ledgers.Run('A'), Host: "web-1", End: lock.EndOk}}}
	r := newTimeline([]lock.Job{j}, ledgers.Now, time.Hour, time.UTC).rows[0]
	if len(r.spans) != 0 || r.undated != 1 {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsNotRememberedIsHatched(t *testing.T) {
	entries := []lock.Entry{ledgers.Over('B', lock.EndOk, 0, time.Minute, time.Hour),
		ledgers.Over('A', lock.EndOk, 0, time.Minute, 6*time.Hour)}
	for _, c := range []struct {
		what   string
		counts map[lock.EndKind]int64
		runs   []lock.Entry
		dark   bool
	}{
		{"all that ever ran", map[lock.EndKind]int64{lock.EndOk: 2}, entries, false},
		{"the last of many", map[lock.EndKind]int64{lock.EndOk: 900}, entries, true},
		{"nobody knows how many", nil, entries, true},
		{"it has never run", map[lock.EndKind]int64{}, nil, false},
		{"it has, and nothing is remembered", map[lock.EndKind]int64{lock.EndOk: 3}, nil, true},
	} {
		r := newTimeline([]lock.Job{{Name: "a", State: lock.StateIdle, Now: ledgers.Now, Counts: c.counts,
			Runs: c.runs}}, ledgers.Now,
			12*time.Hour, time.UTC).rows[0]
		text := string(HTML([]lock.Job{r.job}, viewOf(12*time.Hour)))
		starts, none := strings.Contains(text, ">History starts at Sun "), strings.Contains(text, ">No runs recorded<")
		if starts != (r.dark && len(c.runs) > 0) || none != (r.dark && len(c.runs) == 0) {
			t.Errorf("%s: the page says where the history starts: %v, or that there is none: %v", c.what, starts, none)
		}
		if r.dark != c.dark {
			t.Errorf("%s: hatched is %v", c.what, r.dark)
		}
	}
}

func TestAPauseIsDrawnUntilItEnds(t *testing.T) {
	act := func(event lock.Act, ago time.Duration) lock.Entry {
		return lock.Entry{Run: ledgers.Run('P'), Act: event, User: "alice", Host: "desk", Ended: ledgers.Before(ago),
			Reason: "deploy"}
	}
	until := func(ago, till time.Duration) lock.Entry {
		e := act(lock.ActPause, ago)
		e.Until = ledgers.Before(till)
		return e
	}
	for _, c := range []struct {
		what     string
		runs     []lock.Entry
		pause    *lock.PauseMark
		from, to time.Duration // ago; to < 0: it goes on
	}{
		{"resumed", []lock.Entry{act(lock.ActResume, time.Hour), act(lock.ActPause, 3*time.Hour)}, nil, 3 * time.Hour,
			time.Hour},
		{"it goes on", []lock.Entry{act(lock.ActPause, 2*time.Hour)},
			&lock.PauseMark{By: "alice@desk", Since: ledgers.Before(2 * time.Hour)}, 2 * time.Hour, -1},
		{"it ended by itself", []lock.Entry{ledgers.Over('B', lock.EndOk, 0, 0, time.Hour),
			until(3*time.Hour, 2*time.Hour)},
			nil, 3 * time.Hour, 2 * time.Hour},
		{"over when a run began", []lock.Entry{ledgers.Over('B', lock.EndOk, 0, 0, time.Hour),
			act(lock.ActPause, 3*time.Hour)},
			nil, 3 * time.Hour, time.Hour},
	} {
		j := lock.Job{Name: "a", State: lock.StateIdle, Now: ledgers.Now, Runs: c.runs, Pause: c.pause}
		got := newTimeline([]lock.Job{j}, ledgers.Now, 12*time.Hour, time.UTC).rows[0].pauses
		if len(got) != 1 || !got[0].from.Equal(ledgers.Before(c.from)) || c.to < 0 != got[0].to.IsZero() || c.to >= 0 &&
			!got[0].to.Equal(ledgers.Before(c.to)) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}
