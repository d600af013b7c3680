// Package report puts what was read of jobs into tables and pages for people, objects for
// programs, and verdicts and metrics for monitoring. Its functions are pure: they read no clock
// and no store. Text from a store is escaped.
package report

import (
	"cmp"
	"slices"

	"redlockrun/internal/lock"
)

// Subject is the run that a job's state is about: its holder, or the one that has vanished.
// Run is "" if there is none.
func Subject(j lock.Job) lock.Entry {
	h := j.Holder
	switch {
	case h.Run != "":
		return lock.Entry{Run: h.Run, Host: h.Host, User: h.User, PID: h.PID, Command: h.Command, Fence: j.Fence,
			At: j.At, Slot: slotOf(j)}
	case j.State == lock.StateVanished:
		return j.Open
	}
	return lock.Entry{}
}

// slotOf returns the slot of the holder, or the latest slot if the lock is free; "" if none is
// known.
func slotOf(j lock.Job) string {
	run := j.Holder.Run
	if run == "" && len(j.Slots) > 0 {
		return j.Slots[0].Name
	}
	for _, s := range j.Slots {
		if run != "" && s.Begun.Run == run {
			return s.Name
		}
	}
	if run != "" && j.Open.Run == run {
		return j.Open.Slot
	}
	return ""
}

// failed are the runs that have failed in a slot, with the one that began in it and has
// vanished; known is false if the slot is closed or not kept.
func failed(j lock.Job, slot string) (tries []lock.Try, known bool) {
	i := slices.IndexFunc(j.Slots, func(s lock.JobSlot) bool { return s.Name == slot })
	if i < 0 || j.Slots[i].Closed {
		return nil, false
	}
	tries = slices.Clone(j.Slots[i].Failures)
	if b := j.Slots[i].Begun; b.Run != "" && b.Run != j.Holder.Run && j.State != lock.StateStarting {
		tries = append(tries, lock.Try{Run: b.Run, Host: b.Host, End: lock.EndVanished, Status: -1})
	}
	return tries, true
}

// Busy reports whether a run holds the lock, not a pause.
func Busy(j lock.Job) bool {
	return j.State != lock.StateIdle && j.State != lock.StateVanished && j.State != lock.StatePaused && j.State != ""
}

// Paused reports whether a job is paused, or will be when its run is over.
func Paused(j lock.Job) bool { return j.Paused() }

// Running reports whether a run works under the lock.
func Running(j lock.Job) bool { return Busy(j) && j.State != lock.StateEnded && j.Holder.Run != "" }

// unseen reports whether nothing is known of a job, and would be if it had ever run.
func unseen(j lock.Job) bool {
	idle := j.State == lock.StateIdle && j.Waiting == 0 && len(j.Unread) == 0 && len(j.Unfit) == 0
	return idle && !j.NoHistory && cmp.Or(j.LastEnd.Run, j.LastSuccess.Run, j.Open.Run) == "" && len(j.Runs) == 0
}

const neverSeen = "never seen"
