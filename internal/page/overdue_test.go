package page

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ledgers"
)

// expecting is a job that must succeed every age, and did so some time ago.
func expecting(name string, age, ago time.Duration) lock.Job {
	j := lock.Job{Name: name, State: lock.StateIdle, Now: ledgers.Now, Counts: map[lock.EndKind]int64{lock.EndOk: 1},
		MaxAge: age}
	j.LastSuccess = ledgers.Over('A', lock.EndOk, 0, time.Minute, ago)
	j.LastEnd, j.Runs = j.LastSuccess, []lock.Entry{j.LastSuccess}
	return j
}

func TestAJobIsMarkedWhereItBecameOverdue(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	paused := expecting("paused", hour, 5*hour)
	paused.State, paused.Pause = lock.StatePaused, &lock.PauseMark{By: "alice@desk", Since: ledgers.Before(2 * hour)}
	pausedBefore := expecting("paused before", hour, 5*hour)
	pausedBefore.State, pausedBefore.Pause = lock.StatePaused,
		&lock.PauseMark{By: "alice@desk", Since: ledgers.Before(9 * hour / 2)}
	for _, c := range []struct {
		job  lock.Job
		left int // in a window of 10 hours; < 0: there is none
	}{
		{expecting("late", hour, 5*hour), whole100 * 6 / 10},
		{expecting("in time", 6*hour, 5*hour), -1},
		{expecting("late for long", hour, 50*hour), 0},
		{paused, whole100 * 6 / 10},
		{pausedBefore, -1},
	} {
		all := checkPage(t, HTML([]lock.Job{c.job}, viewOf(10*hour)))
		i := slices.IndexFunc(all, func(e element) bool {
			return strings.HasPrefix(e.attributes["title"], "overdue since ")
		})
		switch {
		case i < 0 && c.left >= 0:
			t.Errorf("%s: no mark", c.job.Name)
		case i >= 0:
			if left, width, _ := placeOf(t, all[i]); left != c.left || width != 0 {
				t.Errorf("%s: a mark at %d, %d wide, want %d", c.job.Name, left, width, c.left)
			}
		}
	}
}

func TestWhatShouldHaveRunStandsOnTop(t *testing.T) {
	t.Parallel()
	jobs := []lock.Job{
		expecting("a", time.Hour, 2*time.Hour),
		expecting("b", time.Hour, 9*time.Hour),
		expecting("c", time.Hour, time.Minute),
	}
	text := string(HTML(jobs, viewOf(24*time.Hour)))
	if !strings.Contains(text, "<h1>3 jobs, 2 to be looked at, 2 overdue</h1>") {
		t.Errorf("%.900s", text)
	}
	list, _, _ := strings.Cut(text[strings.Index(text, "What should have run"):], "</section>")
	first, second := strings.Index(list, "overdue by 8h"), strings.Index(list, "overdue by 1h")
	if first < 0 || second < first || strings.Contains(list, "<bdi>c<") ||
		strings.Index(text, "Who ran when") < strings.Index(text, list) {
		t.Errorf("%s", list)
	}
	if text := string(HTML(jobs[2:], viewOf(24*time.Hour))); strings.Contains(text, "should have run") {
		t.Error("of jobs that are in time the page says what should have run")
	}
}
