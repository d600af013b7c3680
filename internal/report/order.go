package report

import (
	"fmt"
	"slices"
	"strings"

	"redlockrun/internal/lock"
)

// A group is a part of a list of jobs.
type group struct {
	is   func(lock.Job) bool
	bad  bool   // its jobs need attention
	word string // names its jobs when they are only counted
}

const attention = "needing attention"

// groups are in the order of a list, the worst first. A job is in the first group that fits.
var groups = []group{
	{gone, true, attention},
	{is(lock.StateStuck), true, attention},
	{is(lock.StateSilent), true, attention},
	{endedBadly, true, attention},
	{noLock, true, attention},
	{func(j lock.Job) bool { return j.Overdue() }, true, attention},
	{is(""), false, "unknown"},
	{Busy, false, "running"},
	{Paused, false, "paused"},
	{func(lock.Job) bool { return true }, false, "idle"},
}

// gone reports whether a run has vanished and no other has begun.
func gone(j lock.Job) bool {
	return j.State == lock.StateVanished || j.State == lock.StatePaused && j.Vanished()
}

func endedBadly(j lock.Job) bool { return j.LastEnd.Run != "" && j.LastEnd.End != lock.EndOk }

// noLock reports whether no run can take the lock, because of a key that is not a lock's.
func noLock(j lock.Job) bool { return j.State == lock.StateForeign || len(j.Unfit) > 0 }

// rank is the index of the group of a job.
func rank(j lock.Job) int {
	return slices.IndexFunc(groups, func(g group) bool { return g.is(j) })
}

// Bad reports whether a job needs attention: its last end or its state was bad, or it is overdue.
func Bad(j lock.Job) bool { return groups[rank(j)].bad }

// Rest counts jobs that a list has no room for: and 37 more idle. bad reports whether one of them needs attention.
func Rest(jobs []lock.Job) (text string, bad bool) {
	counts := map[string]int{}
	for _, j := range jobs {
		counts[groups[rank(j)].word]++
		bad = bad || Bad(j)
	}
	var parts []string
	more := "more "
	for _, g := range groups {
		if n := counts[g.word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", n, more, g.word))
			more = ""
			delete(counts, g.word)
		}
	}
	return "and " + strings.Join(parts, ", "), bad
}
