package simulation

import (
	"fmt"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// A desk is what people do with the job beside the crontabs of hosts.
type desk struct {
	deeds []*deed // of operators
	looks []*deed // of somebody who reads
	keeps int     // --history
}

// A deed is one command of an operator, or of who looks: each is a host of its own.
type deed struct {
	kind    string
	at      time.Duration
	length  time.Duration // --for of a pause, or after how long it is ended by resume
	endless bool          // the pause ends by resume alone
	network networkProfile
	left    bool // it is left out
}

// The kinds of deeds. A pause may come with the end that it has.
const (
	pauses     = "pause"
	resumes    = "resume"
	stops      = "stop"             // of whoever has the lock
	stopsRun   = "stop --run"       // of whom status has named
	stopsAll   = "stop --pause"     // nobody starts after it
	unlocks    = "unlock"           // of a run that is over
	unlocksNow = "unlock --force"   // of a run that may live
	looks      = "status"           // somebody looks
	looksLast  = "status, when all" // are gone
)

func (d *deed) String() string {
	return fmt.Sprintf("%s at %v, for %v, endless: %v, network %+v", d.kind, d.at, d.length, d.endless, d.network)
}

// staff draws what people do: it changes nothing of the rest.
func (p *plan) staff() {
	s := streamOf(p.seed, "operators")
	if p.keeps = historyOf; s.chance(0.2) {
		p.keeps = 3
	}
	calm := len(p.faults) == 0 || s.chance(0.5)
	if s.chance(0.4) {
		for range 1 + s.IntN(3) {
			p.deeds = append(p.deeds, p.draw(s,
				pick(s, pauses, pauses, stops, stopsRun, stopsAll, unlocks, unlocksNow, resumes), calm))
		}
		p.ignore(s)
	}
	if s.chance(0.3) {
		for range 1 + s.IntN(3) {
			p.looks = append(p.looks, p.draw(s, looks, calm))
		}
	}
	if s.chance(0.06) {
		p.manySlots()
	}
	p.looks = append(p.looks, &deed{kind: looksLast, network: networkProfile{way: time.Millisecond}})
}

// manySlots has each tick have a slot of its own: they are more than are remembered, in most worlds.
func (p *plan) manySlots() {
	for n, h := range p.hosts {
		for i := range h.ticks {
			h.ticks[i].slot = fmt.Sprintf("%d of c%d", i, n)
		}
	}
}

// historyOf is how many runs the ledger keeps, in most worlds.
const historyOf = 50

// draw is a deed at a time when somebody has just come, or is at work.
func (p *plan) draw(s stream, kind string, calm bool) *deed {
	d := &deed{kind: kind, length: s.spread(10*time.Millisecond, 30*time.Second), endless: s.chance(0.5)}
	ticks := p.hosts[s.IntN(len(p.hosts))].ticks
	t := ticks[s.IntN(len(ticks))]
	d.at = t.at + s.between(0, t.runs+20*time.Millisecond)
	d.network.way = s.spread(50*time.Microsecond, 3*time.Millisecond)
	if !calm {
		d.network.slow, d.network.cut = pick(s, 0, 0.1), pick(s, 0, 0.05)
		d.network.lose, d.network.stall = pick(s, 0, 0.05), pick(s, 0, 0.02)
	}
	return d
}

// ignore has some runs not care for pauses.
func (p *plan) ignore(s stream) {
	for _, h := range p.hosts {
		for i := range h.ticks {
			h.ticks[i].ignores = s.chance(0.1)
		}
	}
}

// attended are the deeds that are done.
func (p *plan) attended() (all []*deed) {
	for _, d := range append(p.deeds[:len(p.deeds):len(p.deeds)], p.looks...) {
		if !d.left {
			all = append(all, d)
		}
	}
	return all
}

// attends is until when somebody is at the desk.
func (d *desk) attends() (until time.Duration) {
	for _, x := range d.deeds {
		until = max(until, x.at+x.length)
	}
	return until
}

func (d *desk) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the ledger keeps %d\n", d.keeps)
	for n, x := range append(d.deeds[:len(d.deeds):len(d.deeds)], d.looks...) {
		if !x.left {
			fmt.Fprintf(&b, "act %d: %v\n", n, x)
		}
	}
	return b.String()
}

// leave leaves out the n-th deed.
func (d *desk) leave(n int) {
	if n < len(d.deeds) {
		d.deeds[n].left = true
		return
	}
	d.looks[n-len(d.deeds)].left = true
}

// event is the act of a deed; "" of one that changes nothing.
func (d *deed) event() lock.Act {
	switch d.kind {
	case pauses:
		return lock.ActPause
	case resumes:
		return lock.ActResume
	case stops, stopsRun, stopsAll:
		return lock.ActStop
	case unlocks, unlocksNow:
		return lock.ActUnlock
	}
	return ""
}
