// Package linemodel explores the line's hand-over exhaustively: how runs that wait for one
// lock get it one after the other ([Line]). Nothing imports it; its tests are the point of it.
//
// The steps of the server are those of acquire.lua, confirm.lua, release.lua and queue.lua,
// without slots, pauses and the ledger; a run does what queue.go does. The model has no clock.
// Whatever is under way may arrive at any time, or never; who gave up waiting for it does
// not know; a subscription may end, a message get lost, a run die; a lock may lapse whenever
// its run's lease has ended, which comes first (Times.End). What holds here therefore holds
// whatever the network and the scheduler do, as long as clocks run at nearly one speed.
package linemodel

import (
	"fmt"

	"redlockrun/internal/proof/model"
)

const maxRuns = 4

// A Line is some runs that want one lock, and how much may go wrong.
//
// Promised, whatever happens:
//
//   - no two runs hold the lock at a time;
//   - each that begins to hold has a larger fence than all before;
//   - after each acquire and release the lock is somebody's, or nobody waits;
//   - nobody gets the lock before somebody undisturbed who came earlier;
//   - a hand-over goes to nobody who is known to be gone, and is no whole lease before
//     its run has asked for that;
//   - who has left has no lock and stands in no line, and nobody waits for himself;
//   - if from now on nothing goes wrong, everybody who lives gets the lock.
type Line struct {
	Runs   int
	Lapses int // of the lock
	Losses int // of requests, answers and messages; a request that is lost may still arrive, also twice
	Cuts   int // of subscriptions, and long silences, of those who live
	Deaths int
	Quits  int // how many may give up
	Fault  Fault
}

// A Fault is another scheme, or an error built into this one, to see that it is refuted.
type Fault int

// The faults of a Line.
const (
	None            Fault = iota
	WakeOnly              // a release wakes the first in line, and gives the lock to nobody
	NotifyFirst           // a holder calls the next one, and then deletes the lock
	BelieveMessage        // who is called begins, and asks nobody
	WholeLease            // a hand-over is a whole lease, which needs no confirmation
	DeleteBlindly         // a release deletes the lock, whosever it is
	LeaveQuietly          // who gives up leaves the line, and does not look whether he has the lock
	NoTombstone           // what was given up is not remembered
	OwnIsBusy             // acquire does not know its own run
	AskNobody             // nobody counts who hears a call
	NeverLook             // a waiter relies upon being called
	CountFromAnswer       // a lease is counted from when the answer came
	CounterAlone          // the fence is a counter, which can be evicted, and no clock
	LastFirst             // the lock goes to who came last
)

// Step names one transition. Runs are letters; where a fault is built in, they keep theirs.
type Step struct {
	What string
	Run  int
}

func (s Step) String() string { return fmt.Sprintf("%c %s", 'A'+s.Run, s.What) }

// The phases of a run.
const (
	outside = iota
	waiting // nothing of it is under way
	asking  // acquire
	confirming
	holding
	leaving // release
	gone
	dead
)

// What is under way between a run and the server.
const (
	nothing  = iota
	request  // its request
	reply    // the answer
	reminder // of NotifyFirst: the deletion that follows the call
)

// The answers.
const (
	busy  = iota
	taken // for the window in which it is to be confirmed
	held  // a whole lease
	no    // not yours, or you have given up
	stale // the lease that was granted has ended
)

// A run and what the server knows of it.
type run struct {
	phase  uint8
	way    uint8
	answer uint8
	fence  uint8 // of the answer, or of what it holds
	late   uint8 // bit asking, confirming, leaving: such a request, of which nobody knows any more
	called bool  // it has been called
	call   bool  // a call is under way
	doubt  bool  // an acquire got no answer

	ear      bool // the server counts a subscription
	callable bool // as of its last look
	silent   bool // it has not looked for long
	steady   bool // nothing has disturbed it since it stands in line
	buried   bool // there is a tombstone
	over     bool // it has been released
}

type state struct {
	runs  [maxRuns]run
	line  [maxRuns]uint8 // who waits, the first one first: run + 1
	owner uint8          // run + 1, or 0
	lease bool           // confirmed
	fence uint8          // in the record
	used  uint8          // the largest with which a run has held

	counter uint8 // of the fence

	lapses, losses, cuts, deaths, quits uint8
}

type emit = func(Step, state, string)

// Check explores l and returns the number of its states, and a *model.Violation if a
// promise is broken.
func (l Line) Check() (states int, err error) { return model.Search[state, Step](l) }

// Initial implements [model.System].
func (l Line) Initial() []state { return []state{{}} }

// Next implements [model.System].
func (l Line) Next(s state, out func(Step, state, string)) {
	if broken := l.calm(s); broken != "" {
		out(Step{"lives, and from here on nothing goes wrong", waiterOf(&s)}, s, broken)
	}
	visit := func(step Step, next state, broken string) { out(step, l.canonical(next), broken) }
	for c := range l.Runs {
		l.act(s, c, visit)
		l.answer(s, c, visit)
		l.arrive(s, c, visit)
		l.arriveLate(s, c, visit)
		l.goWrong(s, c, visit)
	}
	l.lapse(s, visit)
}

// waiterOf is somebody who waits.
func waiterOf(s *state) int {
	for c := range s.runs {
		if p := s.runs[c].phase; p > outside && p < gone {
			return c
		}
	}
	return 0
}

// send puts a request of run c on its way.
func (s *state) send(c int, phase uint8) {
	s.runs[c].phase, s.runs[c].way = phase, request
}

// act is what a run does of its own accord.
func (l Line) act(s state, c int, out emit) {
	r := &s.runs[c]
	switch {
	case r.phase == outside:
		r.ear = true
		s.send(c, asking)
		out(Step{"subscribes, and asks", c}, s, "")
	case r.phase == holding:
		s.send(c, leaving)
		out(Step{"has run, and releases", c}, s, "")
	case r.phase != waiting:
	case r.called:
		s.send(c, confirming)
		out(Step{"asks for confirmation", c}, s, "")
	default:
		l.wait(s, c, out)
	}
}

// wait is what can come to a run that sleeps.
func (l Line) wait(s state, c int, out emit) {
	if s.runs[c].call {
		l.hear(s, c, out)
	}
	if int(s.quits) < l.Quits {
		quit := s
		quit.quits++
		quit.send(c, leaving)
		out(Step{"gives up waiting", c}, quit, "")
	}
	if l.Fault == NeverLook {
		return
	}
	s.send(c, asking)
	if !s.runs[c].ear {
		out(Step{"looks, and cannot be called", c}, s, "")
		s.runs[c].ear = true
	}
	out(Step{"looks", c}, s, "")
}

func (l Line) hear(s state, c int, out emit) {
	r := &s.runs[c]
	r.call, r.called = false, true
	if l.Fault == BelieveMessage {
		broken := s.begin(c, s.used+1) // of the fence it knows nothing
		out(Step{"hears its call, and begins", c}, s, broken)
		return
	}
	out(Step{"hears its call", c}, s, "")
}

// begin lets run c hold the lock with a fence.
func (s *state) begin(c int, fence uint8) (broken string) {
	for d := range s.runs {
		if d != c && s.runs[d].phase == holding {
			broken = "two runs hold the lock"
		}
	}
	if fence <= s.used && broken == "" {
		broken = "a fence is not larger than one before"
	}
	s.used = max(s.used, fence)
	r := &s.runs[c]
	r.phase, r.way, r.answer, r.fence, r.called, r.call = holding, nothing, 0, 0, false, false
	return broken
}

// answer brings run c the answer that it waits for.
func (l Line) answer(s state, c int, out emit) {
	r := &s.runs[c]
	if r.way != reply {
		return
	}
	phase, answer, fence := r.phase, r.answer, r.fence
	r.way, r.answer, r.fence = nothing, 0, 0
	switch {
	case phase == leaving:
		r.leave()
		out(Step{"hears that it has left", c}, s, "")
	case answer == held:
		broken := s.begin(c, fence)
		out(Step{fmt.Sprintf("hears that it holds the lock, fence %d", fence), c}, s, broken)
	case answer == taken:
		r.phase, r.called = waiting, true
		out(Step{"hears that the lock is kept for it", c}, s, "")
	case answer == stale:
		r.phase, r.called, r.doubt = waiting, false, true
		out(Step{"hears of a lease that has ended", c}, s, "")
	case r.buried:
		r.leave()
		out(Step{"hears that it has given up", c}, s, "")
	default:
		r.phase = waiting
		r.called = r.called && phase == asking
		out(Step{"hears that the lock is not its own", c}, s, "")
	}
}

// leave ends what a run does; its subscription ends when the server notices.
func (r *run) leave() {
	r.phase, r.way, r.answer, r.fence, r.called, r.call = gone, nothing, 0, 0, false, false
}

// goWrong adds each way in which run c can fail.
func (l Line) goWrong(s state, c int, out emit) {
	l.lose(s, c, out)
	l.cut(s, c, out)
	if r := &s.runs[c]; int(s.deaths) < l.Deaths && r.phase != outside && r.phase != gone && r.phase != dead {
		s.deaths++
		r.forsake()
		r.leave()
		r.phase, r.steady = dead, false
		out(Step{"dies", c}, s, "")
	}
}

// forsake makes a request that is under way one of which nobody knows any more.
func (r *run) forsake() {
	if r.way == request || r.way == reminder {
		r.late |= 1 << r.phase
	}
}

func (l Line) lose(s state, c int, out emit) {
	if int(s.losses) == l.Losses {
		return
	}
	s.losses++
	if s.runs[c].call {
		unnotified := s
		unnotified.runs[c].call, unnotified.runs[c].steady = false, false
		out(Step{"does not get its call", c}, unnotified, "")
	}
	r := &s.runs[c]
	if r.way == nothing {
		return
	}
	r.forsake()
	phase := r.phase
	r.way, r.answer, r.fence = nothing, 0, 0
	r.phase, r.called, r.doubt = waiting, r.called && phase == asking, r.doubt || phase == asking
	if phase == leaving {
		r.leave()
	}
	out(Step{"gets no answer", c}, s, "")
}

// cut ends a subscription, or has the server take a waiter for silent. Those who are no
// more cost nothing.
func (l Line) cut(s state, c int, out emit) {
	r := &s.runs[c]
	alive := r.phase < leaving
	if alive && int(s.cuts) == l.Cuts {
		return
	}
	if alive {
		s.cuts++
	}
	r.steady = false
	if s.placeOf(c) >= 0 && !r.silent {
		silent := s
		silent.runs[c].silent = true
		out(Step{"is not heard of for long", c}, silent, "")
	}
	if r.ear {
		r.ear, r.call = false, false
		out(Step{"loses its subscription", c}, s, "")
	}
	if alive && l.Fault == CounterAlone && s.counter > 0 {
		s.counter = 0
		out(Step{"sees the counter evicted", c}, s, "")
	}
}

// lapse ends the lock. The lease of its run has ended before, and so has what it did.
func (l Line) lapse(s state, out emit) {
	if s.owner == 0 || int(s.lapses) == l.Lapses {
		return
	}
	s.lapses++
	c := s.expire(l.Fault)
	out(Step{"sees its lock lapse", c}, s, "")
}

func (s *state) expire(fault Fault) (c int) {
	c = int(s.owner) - 1
	r := &s.runs[c]
	s.owner, s.lease = 0, false
	if r.phase == holding {
		r.leave()
	}
	if r.way == reply && r.answer == held && fault != CountFromAnswer {
		r.answer, r.fence = stale, 0
	}
	return c
}
