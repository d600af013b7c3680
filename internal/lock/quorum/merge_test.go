package quorum

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

const (
	runA = "01AAAAAAAAAAAAAAAAAAAAAAAA"
	runB = "01BBBBBBBBBBBBBBBBBBBBBBBB"
)

var now = time.UnixMilli(1795344187661)

// holds is what a master says of a run that has the lock for another left.
func holds(run string, left time.Duration) lock.Job {
	h := lock.Holder{Run: run, Host: "web-3", TTL: time.Minute, Every: 20 * time.Second}
	return lock.Job{
		Name: "job", Now: now, State: lock.StateRunning, Holder: h, At: now.Add(-time.Hour), Left: left,
		Fence: int64(left / time.Second),
		Open:  lock.Entry{Run: run, Host: "web-3", Status: -1},
	}
}

func free(open string) lock.Job {
	j := lock.Job{Name: "job", Now: now, Open: lock.Entry{Run: open}}
	j.State = wire.StateOfFree(&j)
	return j
}

func over(j lock.Job) lock.Job {
	j.Holder.Ended, j.State = now, lock.StateEnded
	return j
}

func knowing(j lock.Job, e lock.Entry) lock.Job {
	j.LastEnd = e
	return j
}

func doubting(j lock.Job, run string) lock.Job {
	j.Unresolved = []lock.Entry{{Run: run}}
	return j
}

func paused(j lock.Job) lock.Job {
	j.Pause = &lock.PauseMark{By: "alice@desk"}
	return j
}

func sights(jobs ...lock.Job) (seen []masterView) {
	for i, j := range jobs {
		seen = append(seen, masterView{"m" + strconv.Itoa(i+1), j})
	}
	return seen
}

func TestAJobOfAQuorumIsWhatAMajorityHas(t *testing.T) {
	const a, b = 55 * time.Second, 50 * time.Second
	blind := lock.Job{Name: "job", Now: now, Unread: []string{"the lock: the user may not use PTTL"}}
	pause := paused(lock.Job{Name: "job", Now: now, State: lock.StatePaused, Left: -1})
	foreign := lock.Job{Name: "job", Now: now, State: lock.StateForeign, Left: a, Holder: lock.Holder{Foreign: "x"}}
	stuck := holds(runA, -1)
	stuck.State = lock.StateStuck
	done := lock.Entry{Run: runA, End: lock.EndOk, Ended: now}
	for _, c := range []struct {
		name   string
		size   int
		seen   []masterView
		state  lock.State
		holder string
		left   time.Duration
		open   string
		unread string
	}{
		{"all have it", 3, sights(holds(runA, a), holds(runA, b), holds(runA, 45*time.Second)), lock.StateRunning, runA,
			b, runA, ""},
		{"one is without", 3, sights(holds(runA, a), free(""), holds(runA, b)), lock.StateRunning, runA, b, runA, ""},
		{"one is silent", 3, sights(holds(runA, b), holds(runA, a)), lock.StateRunning, runA, b, runA, ""},
		{"another has a minority", 5, sights(holds(runA, a), holds(runB, a), holds(runB, a), holds(runA, b),
			holds(runA, b)),
			lock.StateRunning, runA, b, runA, ""},
		{"most have not been renewed", 3, sights(holds(runA, a), holds(runA, time.Second), holds(runA, time.Second)),
			lock.StateSilent, runA, time.Second, runA, ""},
		{"one has heard of the end", 3, sights(over(holds(runA, a)), holds(runA, b), holds(runA, b)), lock.StateEnded,
			runA, b, runA, ""},
		{"one is for ever", 3, sights(stuck, holds(runA, a), holds(runA, b)), lock.StateRunning, runA, a, runA, ""},
		{"two are for ever", 3, sights(stuck, stuck, holds(runA, b)), lock.StateStuck, runA, -1, runA, ""},
		{"nobody has it", 3, sights(free(""), free(""), free("")), lock.StateIdle, "", 0, "", ""},
		{"a minority has it", 3, sights(free(""), free(""), holds(runA, a)), lock.StateIdle, "", 0, "", ""},
		{"a minority believes in a run", 3, sights(free(runA), free(""), free("")), lock.StateIdle, "", 0, "", ""},
		{"a majority believes in a run", 3, sights(free(runA), free(""), free(runA)), lock.StateVanished, "", 0, runA,
			""},
		{"a majority of those asked believes in a run", 3, sights(free(runA), free(runA)), lock.StateVanished, "", 0,
			runA, ""},
		{"one is in doubt of it", 3, sights(free(runA), doubting(free(runB), runA), free("")), lock.StateVanished, "",
			0, runA, ""},
		{"one knows how it ended", 3, sights(free(runA), free(runA), knowing(free(""), done)), lock.StateIdle, "", 0,
			"", ""},
		{"it depends on who is silent", 3, sights(free(""), holds(runA, a)),
			"", "", 0, "", "the lock: 1 of 3 masters have it for web-3:0, and 1 did not answer"},
		{"one lacks the right", 3, sights(blind, holds(runA, a), free("")),
			"", "", 0, "", "m1: the lock: the user may not use PTTL|the lock: 1 of 3"},
		{"nobody may look", 3, sights(blind, blind, blind), "", "", 0, "",
			"the lock: the user may not use PTTL|the lock: no master answered"},
		{"an election is under way", 3, sights(holds(runA, a), holds(runB, a), free("")), lock.StateIdle, "", 0, "",
			""},
		{"a pause has it", 3, sights(pause, pause, holds(runA, a)), lock.StatePaused, "", -1, "", ""},
		{"a pause is wanted", 3, sights(paused(free("")), paused(free("")), free("")), lock.StatePaused, "", 0, "", ""},
		{"a minority wants a pause", 3, sights(paused(free("")), free(""), free("")), lock.StateIdle, "", 0, "",
			"the pause: only 1 of 3"},
		{"somebody's", 3, sights(foreign, foreign, free("")), lock.StateForeign, "", a, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := merged(c.size, c.seen)
			if j.State != c.state || j.Holder.Run != c.holder || j.Left != c.left || j.Open.Run != c.open ||
				j.Name != "job" || j.Unresolved != nil {
				t.Errorf("%+v", j)
			}
			said := strings.Join(j.Unread, "|")
			if !strings.HasPrefix(said, c.unread) || c.unread == "" && said != "" {
				t.Errorf("unread: %q", said)
			}
		})
	}
}

func TestTheFenceOfAQuorumIsWhatAMajorityHasReached(t *testing.T) {
	high := holds(runA, 50*time.Second) // a master whose counter others have bumped in vain
	high.Fence = 99
	if j := merged(3, sights(holds(runA, 40*time.Second), high, holds(runA, 40*time.Second))); j.Fence != 40 {
		t.Errorf("%d", j.Fence)
	}
}

func TestEntriesOfAQuorumAreMergedByTheirRuns(t *testing.T) {
	at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	ok, gone := lock.Entry{Run: runA, End: lock.EndOk, Ended: at(3)},
		lock.Entry{Run: runA, End: lock.EndVanished, Ended: at(5), Status: -1}
	failed := lock.Entry{Run: runB, End: lock.EndFailed, Status: 1, Ended: at(1)}
	pause := lock.Entry{Act: lock.ActPause, Host: "desk", User: "alice", Reason: "deploy", Ended: at(2)}
	later := pause
	later.Ended = at(4)
	next := pause
	next.Ended = at(4000)
	for _, c := range []struct {
		name  string
		lists [][]lock.Entry
		want  []lock.Entry
	}{
		{"the same of each", [][]lock.Entry{{ok, failed}, {ok, failed}, {ok}}, []lock.Entry{ok, failed}},
		{"one knows of each", [][]lock.Entry{{failed}, {ok}, nil}, []lock.Entry{ok, failed}},
		{"one says vanished", [][]lock.Entry{{gone, failed}, {failed}, nil}, []lock.Entry{failed}},
		{"two say vanished", [][]lock.Entry{{gone, failed}, {gone}, nil}, []lock.Entry{gone, failed}},
		{"one knows better", [][]lock.Entry{{gone, failed}, {gone}, {ok}}, []lock.Entry{ok, failed}},
		{"acts", [][]lock.Entry{{pause}, {later}, {next}}, []lock.Entry{next, pause}},
	} {
		got := mergedEntries(2, c.lists)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %+v", c.name, got)
			}
		}
	}
}

func TestASlotOfAQuorumIsClosedIfAnySaysSo(t *testing.T) {
	with := func(s lock.SlotState, touched int64) lock.Job {
		return lock.Job{Name: "job", State: lock.StateIdle,
			Slots: []lock.JobSlot{{Name: "s", Touched: time.UnixMilli(touched), SlotState: s}}}
	}
	a, b := lock.Try{Run: runA, End: lock.EndFailed, Status: 1}, lock.Try{Run: runB, Status: -1}
	closed, failed := lock.SlotState{Closed: true, By: a}, lock.SlotState{Failures: []lock.Try{b}}
	s := merged(3, sights(with(closed, 1), with(failed, 2), free(""))).Slots[0]
	if !s.Closed || s.By.Run != runA || s.Failures != nil || s.Touched.UnixMilli() != 2 {
		t.Errorf("%+v", s)
	}
	one := with(lock.SlotState{Failures: []lock.Try{a, b}, Begun: b}, 1)
	if s := merged(3, sights(one, free(""), free(""))).Slots[0]; len(s.Failures) != 1 || s.Begun.Run != "" {
		t.Errorf("unconfirmed at one: %+v", s)
	}
	if s := merged(3, sights(one, one, free(""))).Slots[0]; len(s.Failures) != 2 ||
		s.Failures[1].End != lock.EndVanished ||
		s.Begun.Run != runB {
		t.Errorf("unconfirmed at two: %+v", s)
	}
}
