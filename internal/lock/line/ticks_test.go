package line_test

import (
	"fmt"
	"testing"

	"redlockrun/internal/proof/locktest"
)

// A fleet is hosts whose crons fire in the same minute, however their clocks differ: each
// names the slot of a tick by its own clock. One is a day ahead.
type fleet struct {
	steps
	hosts int
	tries int
	draw  func(n int) int
	tick  int
	runs  int       // so many have been started
	held  *fleetRun // nil: nobody has the lock
	late  []*fleetRun
}

// A fleetRun is a run of the present tick.
type fleetRun struct {
	id        string
	slot      string
	overtaken bool // its lease has ended while it hung
}

// A tally is what became of one tick.
type tally struct{ asked, runs, done, failed, lost int }

const dayAhead = 288

func (f *fleet) slotOf(host int) string {
	if host == 0 {
		return fmt.Sprintf("tick-%d", f.tick+dayAhead)
	}
	return fmt.Sprintf("tick-%d", f.tick)
}

func (f *fleet) step(id, slot, step string, args ...any) []any {
	f.t.Helper()
	words := []any{"EVAL", f.text(step), 10}
	for _, key := range []string{"", ":fence", ":line", ":who", ":gone:" + id, ":slots", ":paused", ":job", ":runs", ":bad"} {
		words = append(words, "{n}"+key)
	}
	return f.do(append(append(words, id, 50, "h u 1 c "+slot, 0, slot, "n", "jobs"), args...)...).([]any)
}

// ask has a host start a run, and returns the code of the answer.
func (f *fleet) ask(host int) int64 {
	f.t.Helper()
	f.runs++
	r := &fleetRun{id: fmt.Sprintf("%026d", f.runs), slot: f.slotOf(host)}
	code := f.step(r.id, r.slot, "acquire", `{"run":"`+r.id+`","v":1}`, testTTL, "once", 0, f.tries, 0)[0].(int64)
	if code == 1 {
		f.held = r
	}
	return code
}

func (f *fleet) end(r *fleetRun, how string) {
	f.t.Helper()
	lost := "0"
	if r.overtaken {
		lost = "1"
	}
	f.step(r.id, r.slot, "release", 0, 0, "0", how, 0, lost, "1 5 6 7", 7)
	if r == f.held {
		f.held = nil
	}
}

// overtake lets the lease of the holder end. It may have died, or only hang.
func (f *fleet) overtake(dead bool) {
	f.t.Helper()
	f.do("DEL", "{n}")
	if !dead {
		f.held.overtaken = true
		f.late = append(f.late, f.held)
	}
	f.held = nil
}

// settle ends the run that has just begun somehow, or lets it go on for a while.
func (f *fleet) settle(of *tally) {
	f.t.Helper()
	right := f.held.slot == f.slotOf(1)
	note := func(n *int) {
		if right {
			*n++
		}
	}
	note(&of.runs)
	n := f.draw(10)
	if !right {
		n = min(n, 8) // else it holds the lock while the others ask, who do not wait
	}
	switch {
	case n < 5:
		f.end(f.held, "ok")
		note(&of.done)
	case n < 7:
		f.end(f.held, "failed")
		note(&of.failed)
	case n < 8:
		f.overtake(true)
		note(&of.failed)
	case n < 9:
		f.overtake(false)
		note(&of.failed)
	}
}

// order is in which the hosts ask: that of their clocks, in this tick.
func (f *fleet) order() []int {
	order := make([]int, f.hosts)
	for i := range order {
		j := f.draw(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}

// play is one tick, in which the hosts ask in some order, and the answers are judged.
func (f *fleet) play() (of tally) {
	f.t.Helper()
	for _, host := range f.order() {
		if f.draw(10) == 0 {
			continue // this host is down
		}
		if f.draw(2000) == 0 { // Redis loses its data, and whoever ran does so without a lock
			f.do("FLUSHALL")
			of.lost++
			if f.held != nil {
				f.overtake(false)
			}
		}
		if host != 0 {
			of.asked++
		}
		code := f.ask(host)
		switch {
		case code == 1:
			f.settle(&of)
		case code == 6 && host != 0 && of.done == 0:
			f.t.Fatalf("tick %d: dismissed, and nobody has done it: %+v", f.tick, of)
		case code == 7 && host != 0 && of.failed < f.tries:
			f.t.Fatalf("tick %d: no tries left, and %d of %d have failed", f.tick, of.failed, f.tries)
		case code == 0 && f.held == nil:
			f.t.Fatalf("tick %d: busy, and nobody has it", f.tick)
		}
	}
	if f.held != nil { // it took long
		if f.held.slot == f.slotOf(1) {
			of.done++
		}
		f.end(f.held, "ok")
	}
	for _, r := range f.late { // stopped, as they found their lock gone
		f.end(r, "lost")
	}
	f.late = nil
	return of
}

func (f *fleet) check(of tally) {
	f.t.Helper()
	switch {
	case of.lost > 0: // it may have been done twice, and the slots that are remembered are fewer
	case of.done > 1:
		f.t.Fatalf("tick %d was done %d times", f.tick, of.done)
	case of.failed > f.tries:
		f.t.Fatalf("tick %d: %d runs of %d have failed", f.tick, of.failed, f.tries)
	case of.asked > 0 && of.runs == 0:
		f.t.Fatalf("tick %d: %d have asked, and nobody has run", f.tick, of.asked)
	}
}

// Each tick is done at most once, tried at most so often, and run at least once if anybody
// with a right clock asks; whoever dies, fails, hangs or lives a day ahead.
func TestEachTickIsDoneOnce(t *testing.T) {
	t.Parallel()
	ticks := 300
	if locktest.Length(t, 0) > 0 {
		ticks = 10_000
	}
	for _, tries := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("%d tries", tries), func(t *testing.T) {
			t.Parallel()
			f := &fleet{steps: newSteps(t), hosts: 20, tries: tries, draw: locktest.Draw(t)}
			done := 0
			for f.tick = range ticks {
				of := f.play()
				f.check(of)
				done += of.done
			}
			t.Logf("%d of %d ticks were done, by %d starts", done, ticks, f.runs)
		})
	}
}
