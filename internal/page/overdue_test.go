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

func TestAnOverdueJobNeedsAttention(t *testing.T) {
	t.Parallel()
	jobs := []lock.Job{
		expecting("a", time.Hour, 2*time.Hour),
		expecting("b", time.Hour, 9*time.Hour),
		expecting("c", time.Hour, time.Minute),
	}
	text := string(HTML(jobs, viewOf(24*time.Hour)))
	list, _, _ := strings.Cut(text[strings.Index(text, "id=attention"):], "</table>")
	for _, want := range []string{">2 need attention<", ">overdue by 1h<", ">overdue by 8h<",
		"no success for 9h (last 2026-03-01 05:30 UTC&#43;02 on web-3), limit 1h"} {
		if want = strings.ReplaceAll(want, "&#43;", "+"); !strings.Contains(list, want) {
			t.Errorf("%s is not in %s", want, list)
		}
	}
	if strings.Contains(list, ">c</a>") {
		t.Error("a job that is in time needs attention")
	}
}
