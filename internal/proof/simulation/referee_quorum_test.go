package simulation

import (
	"strings"
	"time"
)

// isVote looks at a step of a master of a quorum.
func (r *referee) isVote(x *wire) {
	now := r.holding(x.machine)
	r.isForeign(now, x)
	r.isUndone(now, x)
	run := r.runs[now.holder]
	if run == nil {
		return
	}
	run.round = max(run.round, now.round)
	if !run.givers[x.machine.number] {
		run.givers[x.machine.number] = true
		run.had = run.had || run.votes() > r.world.machines/2
	}
}

// isUndone: nothing of a run that arrives late takes away what it has by a lease. What is left of its rounds before it
// may.
func (r *referee) isUndone(now standing, x *wire) {
	run := r.runs[r.was.holder]
	if run == nil || run.process != x.process || now.holder == r.was.holder || r.was.left <= 0 ||
		r.was.round < run.round {
		return
	}
	if run.lease != nil && !run.left && time.Now().Before(run.lease.Until()) {
		r.breach("owner: by a step of its own %s has the lock at s%d no more", run.id, x.machine.number)
	}
}

// roundOf is the round that a value of a quorum's lock is of.
func roundOf(value string) string {
	_, vote, _ := strings.Cut(value, `"vote":"`)
	round, _, _ := strings.Cut(vote, ".")
	return round
}
