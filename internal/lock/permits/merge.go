package permits

import (
	"cmp"
	"slices"
	"time"

	"redlockrun/internal/lock"
)

// merged returns the job of a name: its lock without permits, with what is known of its gate and its permits.
func merged(whole lock.Job, parts []lock.Job) lock.Job {
	if len(parts) == 0 {
		return whole
	}
	j := whole
	all := append([]lock.Job{whole}, parts...)
	j.Holders = holdersOf(parts)
	showWorst(&j, all)
	showGate(&j, parts[0])
	mergeLedger(&j, all)
	for _, p := range parts {
		j.Unread = appendNew(j.Unread, p.Unread)
		j.Unfit = appendNew(j.Unfit, p.Unfit)
	}
	return j
}

// states are in the order in which one hides another, the worst first.
var states = []lock.State{lock.StateVanished, lock.StateStuck, lock.StateForeign, lock.StateSilent, lock.StateRunning,
	lock.StateStarting, lock.StateEnded, lock.StatePaused, lock.StateIdle, ""}

// showWorst has the job show the lock whose state is the worst; of several the one that was taken first.
func showWorst(j *lock.Job, all []lock.Job) {
	shown := slices.MinFunc(all, func(a, b lock.Job) int {
		return cmp.Or(slices.Index(states, stateOf(a))-slices.Index(states, stateOf(b)), a.At.Compare(b.At))
	})
	j.State, j.Holder, j.At, j.Left, j.Fence = stateOf(shown), shown.Holder, shown.At, shown.Left, shown.Fence
	if _, part := lock.SplitPart(shown.Name); lock.PermitNumber(part) > 0 {
		j.Fence = 0 // those of two permits are not in the order of their runs
	}
	j.Open, j.Unresolved = shown.Open, shown.Unresolved
	if shown.State != j.State { // a collector has the gate, and no run has a permit
		j.Holder, j.Fence, j.Open = lock.Holder{}, 0, lock.Entry{}
	}
}

// stateOf is the state of a lock. A gate whose run collects permits is free, or paused: the run waits.
func stateOf(j lock.Job) lock.State {
	switch {
	case collecting(j) && j.Pause != nil:
		return lock.StatePaused
	case collecting(j):
		return lock.StateIdle
	}
	return j.State
}

// collecting reports whether a run has the gate and collects permits. A run that takes all permits has the gate, too,
// and the ledger of the gate shows it.
func collecting(j lock.Job) bool {
	_, part := lock.SplitPart(j.Name)
	return lock.PermitNumber(part) == 0 && part != "" && j.Holder.Run != "" && j.Open.Run != j.Holder.Run
}

// showGate has the job show who waits at the gate, and the pause, which the gate has.
func showGate(j *lock.Job, gate lock.Job) {
	if name, part := lock.SplitPart(gate.Name); part == "" || gate.Name != lock.GateOf(name) {
		return
	}
	j.Waiting += gate.Waiting
	j.Waiters = append(j.Waiters, gate.Waiters...)
	if h := gate.Holder; collecting(gate) {
		first := lock.Waiter{Run: h.Run, Host: h.Host, PID: h.PID, Since: gate.At}
		j.Waiting, j.Waiters = j.Waiting+1, append([]lock.Waiter{first}, j.Waiters...)
	}
	if gate.Pause != nil {
		j.Pause = gate.Pause
	}
	j.Ends = append(j.Ends, gate.Ends...)
	j.Pauses = append(j.Pauses, gate.Pauses...)
}

// holdersOf returns the runs that hold permits, or the gate for all of them, the oldest first.
func holdersOf(parts []lock.Job) (holders []lock.PermitHolder) {
	for _, p := range parts {
		if p.Holder == (lock.Holder{}) || collecting(p) {
			continue
		}
		i := slices.IndexFunc(holders, func(h lock.PermitHolder) bool { return h.Run != "" && h.Run == p.Holder.Run })
		if i < 0 {
			i = len(holders)
			holders = append(holders, lock.PermitHolder{Holder: p.Holder, State: p.State, At: p.At, Left: p.Left})
		}
		h := &holders[i]
		if _, part := lock.SplitPart(p.Name); lock.PermitNumber(part) > 0 {
			h.Numbers = append(h.Numbers, lock.PermitNumber(part))
		}
		h.Left = min(h.Left, p.Left)
		if slices.Index(states, p.State) < slices.Index(states, h.State) {
			h.State = p.State
		}
	}
	slices.SortStableFunc(holders, func(a, b lock.PermitHolder) int { return a.At.Compare(b.At) })
	return holders
}

// mergeLedger puts the records of all locks of a job together.
func mergeLedger(j *lock.Job, all []lock.Job) {
	var length time.Duration
	var runs int64
	var lists [][]lock.Entry
	for n, p := range all {
		if n > 0 {
			j.Counts = sum(j.Counts, p.Counts)
		}
		if p.LastEnd.Ended.After(j.LastEnd.Ended) {
			j.LastEnd, j.Tail = p.LastEnd, p.Tail
		}
		if p.LastSuccess.Ended.After(j.LastSuccess.Ended) {
			j.LastSuccess = p.LastSuccess
		}
		if p.Stopped.Ended.After(j.Stopped.Ended) {
			j.Stopped = p.Stopped
		}
		if ended := max(1, p.Counts[lock.EndOk]); p.Mean > 0 {
			length += p.Mean * time.Duration(ended)
			runs += ended
		}
		if p.Vanished() && p.Open.Run != j.Open.Run {
			lists = append(lists, []lock.Entry{vanished(p)})
		}
		lists = append(lists, p.Runs)
	}
	if runs > 0 {
		j.Mean = length / time.Duration(runs)
	}
	j.Runs = newestFirst(lists)
}

// vanished is the entry of a run that the ledger shows as open, and that has no permit any more.
func vanished(j lock.Job) lock.Entry {
	e := j.Open
	e.End, e.Status = lock.EndVanished, -1
	return e
}

func sum(a, b map[lock.EndKind]int64) map[lock.EndKind]int64 {
	if a == nil && b == nil {
		return nil
	}
	counts := make(map[lock.EndKind]int64)
	for _, some := range []map[lock.EndKind]int64{a, b} {
		for kind, n := range some {
			counts[kind] += n
		}
	}
	return counts
}

// newestFirst puts entries together. One run has one entry, the later of two, and so has one act on several locks.
func newestFirst(lists [][]lock.Entry) (entries []lock.Entry) {
	entries = slices.Concat(lists...)
	slices.SortStableFunc(entries, func(a, b lock.Entry) int { return dated(b).Compare(dated(a)) })
	seen := make(map[string]bool)
	return slices.DeleteFunc(entries, func(e lock.Entry) bool {
		id := e.Run + string(e.Act)
		double := e.Run != "" && seen[id]
		seen[id] = true
		return double
	})
}

// dated is the instant at which an entry stands in a list: its end, if it is known.
func dated(e lock.Entry) time.Time {
	if e.Ended.IsZero() {
		return e.At
	}
	return e.Ended
}

// mergedOutputs puts the outputs of the locks of one job together; the first has its name.
func mergedOutputs(parts []lock.JobOutputs) lock.JobOutputs {
	all := parts[0]
	for _, p := range parts[1:] {
		all.Outputs = append(all.Outputs, p.Outputs...)
		all.Unread = appendNew(all.Unread, p.Unread)
		all.Err = cmp.Or(all.Err, p.Err)
	}
	slices.SortStableFunc(all.Outputs, func(a, b lock.Output) int { return b.Ended.Compare(a.Ended) })
	return all
}

// appendNew appends the texts that are not there yet.
func appendNew(texts, more []string) []string {
	for _, text := range more {
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}
