package simulation

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
	lockwire "redlockrun/internal/lock/wire"
)

// judge looks at what any machine has done by a step, and what it has kept.
func (r *referee) judge(x *wire) {
	m := x.machine
	for _, key := range m.server.Lasting() {
		if value, _ := m.server.Get(key); !strings.HasPrefix(value, `{"pause":"`) {
			r.breach("keys: s%d would keep %s for ever", m.number, key)
		}
	}
	r.refusedBy(x, r.runs[x.process.run])
	if r.isOf(r.was.holder, x) && r.holding(m).holder != r.was.holder {
		r.repeats(x)
	}
}

// refusedBy: whoever has the lock keeps it and gives it back although a server has no memory; without the ledger's
// rights all goes on, and no step sends more than one command for which they are wanted.
func (r *referee) refusedBy(x *wire, run *record) {
	if n := x.machine.server.Refusals() - r.refusals; n > 0 {
		r.silence(run)
		if n > 1 {
			r.breach("rights: %d commands of one step of %s are refused", n, x.name)
		}
	}
	switch {
	case bytes.HasPrefix(x.said, []byte("-NOPERM")), bytes.HasPrefix(x.said, []byte("-ERR The user executing")):
		r.breach("rights: a step of %s is refused: %s", x.name, x.said)
	case bytes.HasPrefix(x.said, []byte("-OOM")):
		r.silence(run)
		if r.isOf(r.was.holder, x) && r.was.holder == x.process.run && !raises(x.asked) {
			r.breach("memory: %s has the lock at s%d, and is refused", r.was.holder, x.machine.number)
		}
		if run != nil {
			run.starved = true
		}
	}
}

// raises reports whether a step of a quorum's master is one that writes the fence first, as the next round of a run
// does
// that has the lock there by the one before: nothing is done by it if it is refused.
func raises(request []byte) bool {
	return bytes.Contains(request, []byte("next_fence(tonumber(")) || bytes.Contains(request, []byte("if last < "))
}

// silence notes that the ledger may not know how a run ends; nil: what an operator's step has found.
func (r *referee) silence(run *record) {
	if run != nil {
		run.silenced = true
	} else {
		r.silenced = true
	}
}

// repeats has a release arrive once more now and then, as it does if its answer is lost: at once, and a while later.
func (r *referee) repeats(x *wire) {
	if r.again || !r.chance.chance(0.1) {
		return
	}
	m, b := x.machine, x.asked
	before, one := r.holding(m), r.world.machines == 1
	var line standing
	if one {
		line = r.standing(m)
	}
	r.resend(x, b)
	if now := r.holding(m); now.holder != before.holder || now.fence != before.fence {
		r.breach("repeated: the release of %s, once more, has %q have the lock in place of %q", x.name, now.holder,
			before.holder)
	}
	if one && !slices.Equal(line.line, r.standing(m).line) {
		r.breach("repeated: the release of %s, once more, changes the line", x.name)
	}
	r.world.schedule(r.world.in(repeatLane, time.Now().Add(r.chance.between(time.Millisecond, time.Second))), func() {
		if !m.down {
			r.before(x)
			r.resend(x, b)
			r.after(x)
		}
	})
}

// repeatLane is one of those for faults.
const repeatLane = faultLanes - 3

// resend has a machine carry out what another connection of the process sends once more.
func (r *referee) resend(x *wire, b []byte) {
	r.again = true
	defer func() { r.again = false }()
	far := x.machine.server.Connect(func([]byte) {})
	x.asked, x.said = b, far.Feed(b)
	far.Close()
	r.world.note("%s once more: %s", x.name, sizeOf(x.said))
}

// The time for which a waiter may be silent, with what clocks and messages add, and how long a fence is kept.
const (
	silent    = silentMillis*time.Millisecond + 500*time.Millisecond
	fenceLife = 90 * 24 * time.Hour / time.Millisecond
)

// looks notes that a waiter has looked: if nobody had for long, nobody could, and all are excused until now.
func (r *referee) looks(x *wire, now standing) {
	run := r.runs[x.process.run]
	if run == nil || !bytes.Contains(x.asked, acquires) || !slices.Contains(now.line, run.id) &&
		!slices.Contains(r.was.line, run.id) {
		return
	}
	_, run.callable = r.entry(x.machine, run.id)
	at := time.Now()
	if at.Sub(r.latest) > silent-time.Second { // by the server's clock it may be 12 s, or not
		r.since = at
	}
	run.looked, r.latest = at, at
}

// isAnnounced: the lock is handed to nobody who has been silent for long, though others could look.
func (r *referee) isAnnounced(run *record, x *wire) {
	if r.world.wrongClocks() || run.process == x.process || run.looked.IsZero() ||
		time.Since(r.latest) > silent-time.Second {
		return
	}
	if gone := time.Since(latest(run.looked, r.since)); gone > silent {
		r.breach("silence: the lock is given to %s, which has not looked for %v", run.id, gone)
	}
	// Who comes back from a gap may be excused for not listening yet.
	if place := slices.Index(r.was.line, run.id); place >= 0 && !r.was.there[place] && run.callable &&
		time.Since(r.since) > 3*time.Second {
		r.breach("silence: the lock is given to %s, which is not connected", run.id)
	}
}

// ofMost reports whether a majority of the masters has given a run the lock, each at some time.
func (r *referee) ofMost(run *record) bool {
	n := 0
	for _, m := range r.world.servers {
		if run.givers[m.number] || m.lost {
			n++
		}
	}
	return n > r.world.machines/2
}

// isKept: the fence of a grant is kept for 90 days.
func (r *referee) isKept(m *machine) {
	if ms, _ := do(m.server, "PTTL", r.keys.Fence).(int64); ms != int64(fenceLife) {
		r.breach("fence: it is kept for %d ms", ms)
	}
}

// mayRepeatFences: a server that forgets, and whose clock is set back, cannot know.
func (r *referee) mayRepeatFences() bool { return r.world.forgetful() && r.world.wrongClocks() }

// entries are what a machine has entered of each run, the latest first.
func (r *referee) entries(m *machine) map[string][]lock.Entry {
	all := make(map[string][]lock.Entry)
	for _, line := range texts(do(m.server, "LRANGE", r.keys.Runs, 0, -1)) {
		if e, ok := lockwire.ReadEntry(line); !ok {
			r.breach("ledger: %q is no entry", line)
		} else if e.Act == "" {
			all[e.Run] = append(all[e.Run], e)
		}
	}
	return all
}

// ledgerOfQuorum: what runs have said of their ends a majority has entered, and nobody has vanished who has said so.
func (r *referee) ledgerOfQuorum() {
	var seen []map[string][]lock.Entry
	for _, m := range r.world.servers {
		seen = append(seen, r.entries(m))
	}
	for _, run := range r.ordered {
		know, vanished := 0, 0
		for n, m := range r.world.servers {
			said := seen[n][run.id]
			r.isOnce(n, run, said)
			if m.lost || r.isFull(m) || slices.ContainsFunc(said, func(e lock.Entry) bool { return e.End == run.how }) {
				know++
			}
			for _, e := range said {
				if e.End == lock.EndVanished {
					vanished++
				} else if e.End != run.how && !run.mayEnd(e.End) {
					r.breach("ledger: %s has ended (%s), and s%d has %s", run.id, run.how, n, e.End)
				}
			}
		}
		if vanished > 0 && !r.ofMost(run) {
			r.breach("ledger: %s has vanished by %d masters, and never had a majority", run.id, vanished)
		}
		told := run.hasTold()
		if told && know <= r.world.machines/2 && !r.world.outside {
			r.breach("ledger: %s has ended (%s), and %d of %d know it", run.id, run.how, know, r.world.machines)
		}
		// A round of which nobody told it in time can have looked like a run that has died, and the next one had the
		// lock.
		if told && vanished > r.world.machines/2 && !r.world.outside && !run.process.disturbed {
			r.breach("ledger: %s has ended (%s), and has vanished by %d masters", run.id, run.how, vanished)
		}
	}
	for n, entered := range seen {
		r.areKnown(n, entered)
	}
}

// isOnce: a master enters an end of a run once, however often it is told; but one that may not count stops half way,
// and a run whose rounds nobody told it of in time can look as if it had died more than once.
func (r *referee) isOnce(n int, run *record, said []lock.Entry) {
	if r.world.refuses() {
		return
	}
	for i, e := range said {
		again := slices.ContainsFunc(said[:i], func(other lock.Entry) bool { return other.End == e.End })
		if again && (e.End != lock.EndVanished || !run.process.disturbed) {
			r.breach("ledger: s%d has entered twice that %s has ended (%s)", n, run.id, e.End)
		}
	}
}

// isMissed: who has died without a word has vanished for whoever had the lock after it, unless a step could not say so.
func (r *referee) isMissed(run *record, said []lock.Entry) {
	if r.silenced || r.isFull(r.world.servers[0]) ||
		slices.ContainsFunc(r.ordered, func(other *record) bool { return other.silenced }) {
		return
	}
	after := func(other *record) bool { return other.started && other.fence > run.fence }
	if run.crashed && !run.releasing && len(said) == 0 && slices.ContainsFunc(r.ordered, after) {
		r.breach("ledger: %s has died, others had the lock after it, and nothing is entered", run.id)
	}
}

// isTrue: an entry of a run's own says how often its command was started, and whether its lock was lost.
func (r *referee) isTrue(run *record, e lock.Entry) {
	if e.End != run.how {
		return
	}
	if run.begun != run.attempts || e.Attempts != run.attempts {
		r.breach("ledger: %s was started %d times, says %d, and is entered with %d", run.id, run.begun, run.attempts,
			e.Attempts)
	}
	if e.Lost != (run.gone != nil) {
		r.breach("ledger: %s has lost its lock (%v), and is entered with lost: %v", run.id, run.gone, e.Lost)
	}
}
