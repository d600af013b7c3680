package simulation

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

// More of what a client says of itself.
const (
	again    kind = "starts again"
	runsOn   kind = "runs on without the lock"
	regained kind = "has the lock again"
	halts    kind = "halts" // its command, for want of the lock
)

// A story is what is known of a run that asks for what most do not.
type story struct {
	without  bool // it runs on, and its lock is lost
	forGood  bool // as the server has said
	gone     error
	begun    int // how often its command was started
	attempts int // as it has said in the end
	tries    int // how often it has been told outside the line that the lock is busy
	mostHere int // the most waiters that could count as there when it asked
	starved  bool
	silenced bool // a command of the ledger was refused to it, or may have been
	looked   time.Time
	callable bool // as it has said when it looked last
}

// hearMore takes in what few say.
func (r *referee) hearMore(run *record, n news) {
	switch n.kind {
	case starts:
		run.begun = 1
	case again:
		run.begun++
		if run.without || !n.at.Before(run.lease.Until()) {
			r.breach("attempts: %s starts its command again without the lock", run.id)
		}
	case runsOn:
		before := run.without // nobody had answered in time: then another may have it by now
		run.without, run.forGood = true, errors.Is(n.lost, lock.ErrLost)
		if run.forGood && !before && !run.freed && !r.world.outside && !r.world.forgetful() {
			r.breach("renewal: %s has lost its lock: %v", run.id, n.lost)
		}
	case halts:
		r.halts(run, n)
	case regained:
		r.regained(run)
	case releases:
		run.gone, run.attempts = n.lost, n.attempts
	}
}

// halts: a command is killed before its lease is over, and soon if another has the lock.
func (r *referee) halts(run *record, n news) {
	var lost *watchdog.LostError
	switch errors.As(n.lost, &lost); {
	case errors.Is(lost, lock.ErrTaken) && lost.Kill.Sub(n.at) > beside:
		r.breach("loss: the lock of %s is another's, and it is to be killed in %v", run.id, lost.Kill.Sub(n.at))
	case lost.Kill.After(run.lease.Until()):
		r.breach("loss: %s is to be killed %v after its lease", run.id, lost.Kill.Sub(run.lease.Until()))
	}
}

// regained: it has the lock, had it always, and nobody had it meanwhile.
func (r *referee) regained(run *record) {
	if run.forGood {
		r.breach("continue: %s has the lock again that was lost for good", run.id)
	}
	if last := max(r.fence, r.granted); last > run.fence && !r.world.outside {
		r.breach("continue: %s has the lock again by %d, and %d was given since", run.id, run.fence, last)
	}
	run.without = false // claims looks whether it has it
}

// besides reports whether a run that has lost its lock, and goes on, is nobody's business any more.
func (run *record) besides(at time.Time) bool {
	return run.without && (run.forGood || !at.Before(run.lease.Until()))
}

// acquires are words that only the acquire step has.
var acquires = []byte("local waits, ignores_pauses = mode")

// counts notes a step of the one server that a run has made, and judges who joins the line.
func (r *referee) counts(x *wire, now standing) {
	run := r.runs[x.process.run]
	if run == nil || !bytes.Contains(x.asked, acquires) {
		return
	}
	if bytes.HasPrefix(x.said, []byte("*4\r\n:0\r\n")) {
		run.tries++
	}
	place := slices.Index(now.line, run.id)
	if run.tick.retries > 0 && place >= 0 {
		r.breach("retries: %s asks again and again, and stands in line", run.id)
	}
	if run.tick.most == 0 {
		return
	}
	here := 0
	for i, other := range now.line {
		if other != run.id && now.there[i] {
			here++
		}
	}
	if place >= 0 && !slices.Contains(r.was.line, run.id) && here >= run.tick.most {
		r.breach("waiters: %s joins %d who wait, and may be one of %d", run.id, here, run.tick.most)
	}
	run.mostHere = max(run.mostHere, now.maybeHere(run.id))
}

// maybeHere is how many others could wait: those who listen, and those who cannot be called.
func (s *standing) maybeHere(but string) (n int) {
	for i, run := range s.line {
		if run != but && (s.there[i] || !s.called[i]) {
			n++
		}
	}
	return n
}

// turnedAway: who is told that the lock is busy has asked as often as it wanted to; who is told that too many wait is
// told the truth; and what a server refuses is no contention.
func (r *referee) turnedAway(run *record, err error) {
	var held *lock.HeldError
	if r.world.machines > 1 || !errors.As(err, &held) {
		return
	}
	if held.Full && run.mostHere < run.tick.most {
		r.breach("waiters: %s is told that %d wait, and at most %d do", run.id, run.tick.most, run.mostHere)
	}
	// one that stood still, however briefly, is asked anew
	if run.process.disturbed || !r.world.servers[0].still.IsZero() {
		return
	}
	if t := run.tick; t.retries > 0 && (run.tries > 1+t.retries || t.wait == 0 && run.tries < 1+t.retries &&
		!run.starved) {
		r.breach("retries: %s has asked %d times, and wanted to ask 1 + %d times", run.id, run.tries, t.retries)
	}
	if run.starved && !held.Full && run.tries == 0 && !run.process.tick.waited() {
		r.breach("memory: %s was refused, and says that the lock is busy", run.id)
	}
}

// waited reports whether a tick stands in line.
func (t tick) waited() bool { return t.wait > 0 && t.retries == 0 }
