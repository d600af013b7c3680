package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
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
	names := []string{"cancel-orders", "invoices", "search-index", "nightly-report", "newsletter", "backup", "thumbnails", "import-feed"}
	j := lock.Job{Name: names[i%len(names)], State: lock.Idle, Now: now, Counts: map[lock.How]int64{lock.Ok: 1000}}
	if i >= len(names) {
		j.Name += fmt.Sprintf("-%d", i/len(names))
	}
	period := []time.Duration{5 * time.Minute, 30 * time.Minute, 15 * time.Minute, 12 * time.Hour, 2 * time.Hour, 6 * time.Hour}[i%6]
	long := period / time.Duration(2+r.IntN(12))
	for k := range 50 {
		at := now.Add(-time.Duration(k)*period - time.Duration(r.IntN(60))*time.Second - long)
		e := lock.Entry{
			Run: run('A' + byte(k%26)), Host: fmt.Sprintf("web-%d", 1+r.IntN(5)), User: "alice", PID: 4000 + k, Command: "php",
			Asked: at.Add(-time.Duration(r.IntN(3000)) * time.Millisecond), At: at, How: lock.Ok, Attempts: 1,
		}
		e.Run = fmt.Sprintf("%s%02d", e.Run[:24], k)
		e.Ended = at.Add(long/2 + time.Duration(r.Int64N(int64(long/2))))
		if i%4 == 0 && r.IntN(12) == 0 {
			e.How = lock.Hows()[1+r.IntN(8)]
			e.Status = 1 + r.IntN(100)
		}
		j.Runs = append(j.Runs, e)
	}
	j.Last, j.Mean = j.Runs[0], long*3/4
	switch i {
	case 0:
		j.State, j.Holder, j.At, j.Left, j.Waiting = lock.Running, holder('B', "web-3"), before(133*time.Second), 41*time.Second, 2
	case 1:
		j.State = lock.PausedJob
		j.Pause = &lock.PauseMark{By: "alice@desk", Why: "deploy", Since: before(3 * time.Hour), Until: now.Add(time.Hour)}
		j.Runs = slices.DeleteFunc(j.Runs, func(e lock.Entry) bool { return e.Ended.After(before(3 * time.Hour)) })
	case 2:
		j.State, j.Holder, j.At, j.Left = lock.Silent, holder('B', "web-1"), before(50*time.Minute), 12*time.Second
		j.Runs = j.Runs[6:]
	case 3:
		j.State, j.Open = lock.Gone, lock.Entry{Run: run('Z'), Host: "web-9", PID: 7, At: before(7 * time.Hour), Status: -1}
	}
	return j
}
