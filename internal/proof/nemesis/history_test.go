//go:build linux

package nemesis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// What happened to a lock, each at some instant between two.
type deed struct {
	what   string // take, free, pause, resume, quiet, dismiss
	number int    // of a run
	fence  int64
	slot   string
	ignore bool // pauses
	unsure bool // a pause or resume: whether it was done; a free: whether it closed the slot
	closes bool // a free: the slot
}

// A state is a lock as one server would keep it.
type state struct {
	holder int // the number of a run; 0: nobody
	fence  int64
	paused bool
	done   string // the slots that are closed, each between two line ends
}

func (s state) closed(slot string) bool {
	return slot != "" && strings.Contains(s.done, "\n"+slot+"\n")
}

func (s state) with(slot string) state {
	if !s.closed(slot) && slot != "" {
		s.done += "\n" + slot + "\n"
	}
	return s
}

// model is what a lock may do. Who had the lock and was not seen to give it back has lost it
// some time later.
var model = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{state{}} },
	Step: func(s, in, _ any) (next []any) {
		for _, one := range step(s.(state), in.(deed)) {
			next = append(next, one)
		}
		return next
	},
	Equal: func(a, b any) bool { return a.(state) == b.(state) },
	DescribeOperation: func(in, _ any) string {
		d := in.(deed)
		return fmt.Sprintf("%s %d %d %s", d.what, d.number, d.fence, d.slot)
	},
}).ToModel()

func step(s state, d deed) []state {
	changed := s
	legal := true
	switch d.what {
	case "take":
		legal = s.holder == 0 && d.fence > s.fence && !s.closed(d.slot) && (!s.paused || d.ignore)
		changed.holder, changed.fence = d.number, d.fence
	case "free":
		legal = s.holder == d.number
		changed.holder = 0
		if open := changed; d.unsure && d.closes {
			return when(legal, open, changed.with(d.slot))
		} else if d.closes {
			changed = changed.with(d.slot)
		}
	case "pause", "resume":
		changed.paused = d.what == "pause"
		if d.unsure && changed != s {
			return []state{s, changed}
		}
	case "quiet": // it is paused, and nobody has it
		legal = s.paused && s.holder == 0
	case "dismiss":
		legal = s.closed(d.slot)
	}
	return when(legal, changed)
}

func when(legal bool, states ...state) []state {
	if !legal {
		return nil
	}
	return states
}

// late is how long after it was given up a request may still be done, by a server that was frozen.
const late = 20 * time.Second

// deeds are what happened to the lock of a key.
func (n *nemesis) deeds(key string) (history []porcupine.Operation) {
	add := func(d deed, from, to instant) {
		history = append(history, porcupine.Operation{
			ClientId: len(history), Input: d, Output: nil, Call: int64(from), Return: int64(max(from, to)),
		})
	}
	for _, r := range n.runs {
		if r.key != key {
			continue
		}
		all := n.journal.starts[r.number]
		if len(all) == 0 {
			if r.dismissed() {
				add(deed{what: "dismiss", number: r.number, slot: r.report.Slot}, r.launched, r.exited)
			}
			continue
		}
		first, last := all[0], all[len(all)-1]
		add(deed{what: "take", number: r.number, fence: first.fence, slot: first.slot, ignore: r.ignore}, r.launched,
			first.began)
		free := deed{what: "free", number: r.number, slot: first.slot, closes: first.slot != "" && last.ended &&
			last.code == 0}
		until := r.exited
		if !r.clean() {
			free.unsure = true
			until = max(r.exited, last.alive).plus(r.ttl + late)
		}
		add(free, last.alive, until)
	}
	for _, a := range n.acts {
		switch {
		case a.key != key || a.what != "pause" && a.what != "resume":
		case a.unsure():
			add(deed{what: a.what, unsure: true}, a.from, a.to.plus(late))
		case a.done() || a.status == 75: // paused, but not yet quiet
			add(deed{what: a.what}, a.from, a.to)
		}
		if a.key == key && a.what == "pause" && a.done() && a.waited {
			add(deed{what: "quiet"}, a.from, a.to)
		}
	}
	return history
}

// dismissed: it had nothing to do, as its slot was done.
func (r *run) dismissed() bool { return r.slots && r.status == 0 && r.report.Slot != "" }

// clean: it gave back its lock, and how it ended is known to be recorded. Who was told to stop
// and ended well all the same was stopped.
func (r *run) clean() bool {
	return len(r.struck) == 0 && r.said == "" && (r.report.How == "ok" || r.report.How == "failed") &&
		r.report.From == "command"
}

// linear reports whether the history of a key can be one of a lock, and if not, what cannot
// follow on what.
func (n *nemesis) linear(key string) (result porcupine.CheckResult, operations int, trouble string) {
	history := n.deeds(key)
	result, info := porcupine.CheckOperationsVerbose(model, history, 2*time.Minute)
	if result != porcupine.Ok {
		trouble = explain(history, info)
	}
	return result, len(history), trouble
}

// explain is the end of the longest order that a lock allows, and what ends first of the rest.
func explain(history []porcupine.Operation, info porcupine.LinearizationInfo) string {
	var longest []int
	for _, order := range slices.Concat(info.PartialLinearizations()...) {
		if len(order) > len(longest) {
			longest = order
		}
	}
	var rest []int
	for i := range history {
		if !slices.Contains(longest, i) {
			rest = append(rest, i)
		}
	}
	slices.SortFunc(rest, func(a, b int) int { return cmp.Compare(history[a].Return, history[b].Return) })
	text := new(strings.Builder)
	for _, i := range longest[max(0, len(longest)-12):] {
		fmt.Fprintf(text, "  %s\n", describe(history[i]))
	}
	text.WriteString("and then none of\n")
	for _, i := range rest[:min(len(rest), 12)] {
		fmt.Fprintf(text, "  %s\n", describe(history[i]))
	}
	return text.String()
}

func describe(op porcupine.Operation) string {
	return fmt.Sprintf("%v to %v: %+v", instant(op.Call), instant(op.Return), op.Input)
}

func TestTheModelKnowsRightFromWrong(t *testing.T) {
	op := func(d deed, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: d, Call: from, Return: to}
	}
	take := func(number int, fence, from, to int64) porcupine.Operation {
		return op(deed{what: "take", number: number, fence: fence}, from, to)
	}
	free := func(number int, from, to int64) porcupine.Operation {
		return op(deed{what: "free", number: number}, from, to)
	}
	const ever = math.MaxInt64 / 2
	slot := func(d deed) deed { d.slot = "tick-1"; return d }
	for name, test := range map[string]struct {
		want porcupine.CheckResult
		ops  []porcupine.Operation
	}{
		"one after another": {porcupine.Ok,
			[]porcupine.Operation{take(1, 10, 0, 1), free(1, 2, 3), take(2, 11, 0, 4)}},
		"before the other ended": {porcupine.Illegal,
			[]porcupine.Operation{take(1, 10, 0, 1), free(1, 5, 6), take(2, 11, 0, 4)}},
		"after a killed one": {porcupine.Ok,
			[]porcupine.Operation{take(1, 10, 0, 1), free(1, 3, ever), take(2, 11, 0, 4)}},
		"beside a killed one": {porcupine.Illegal,
			[]porcupine.Operation{take(1, 10, 0, 1), free(1, 5, ever), take(2, 11, 0, 4)}},
		"the same fence": {porcupine.Illegal,
			[]porcupine.Operation{take(1, 10, 0, 1), free(1, 2, 3), take(2, 10, 0, 4)}},
		"a smaller fence": {porcupine.Illegal,
			[]porcupine.Operation{take(1, 10, 0, 1), free(1, 2, 3), take(2, 9, 0, 4)}},
		"under a pause": {porcupine.Illegal,
			[]porcupine.Operation{op(deed{what: "pause"}, 0, 1), take(1, 10, 2, 3)}},
		"under a pause that it ignores": {porcupine.Ok, []porcupine.Operation{
			op(deed{what: "pause"}, 0, 1), op(deed{what: "take", number: 1, fence: 10, ignore: true}, 2, 3)}},
		"under a pause that was perhaps made": {porcupine.Ok, []porcupine.Operation{
			op(deed{what: "pause", unsure: true}, 0, 1), take(1, 10, 2, 3)}},
		"handed over before the pause": {porcupine.Ok, []porcupine.Operation{
			take(1, 10, 0, 1), free(1, 2, 3), op(deed{what: "pause"}, 3, 4), take(2, 11, 0, 5)}},
		"after the pause": {porcupine.Ok, []porcupine.Operation{
			op(deed{what: "pause"}, 0, 1), op(deed{what: "resume"}, 2, 3), take(1, 10, 0, 4)}},
		"quiet while one runs": {porcupine.Illegal, []porcupine.Operation{
			take(1, 10, 0, 1), op(deed{what: "pause"}, 2, 3), op(deed{what: "quiet"}, 2, 3), free(1, 5, 6)}},
		"dismissed with reason": {porcupine.Ok, []porcupine.Operation{
			op(slot(deed{what: "take", number: 1, fence: 10}), 0, 1),
			op(slot(deed{what: "free", number: 1, closes: true}), 2, 3),
			op(slot(deed{what: "dismiss"}), 0, 4)}},
		"dismissed before it was done": {porcupine.Illegal, []porcupine.Operation{
			op(slot(deed{what: "take", number: 1, fence: 10}), 0, 1), op(slot(deed{what: "dismiss"}), 0, 1),
			op(slot(deed{what: "free", number: 1, closes: true}), 2, 3)}},
		"done twice": {porcupine.Illegal, []porcupine.Operation{
			op(slot(deed{what: "take", number: 1, fence: 10}), 0, 1),
			op(slot(deed{what: "free", number: 1, closes: true}), 2, 3),
			op(slot(deed{what: "take", number: 2, fence: 11}), 0, 5)}},
		"done twice, not recorded": {porcupine.Ok, []porcupine.Operation{
			op(slot(deed{what: "take", number: 1, fence: 10}), 0, 1),
			op(slot(deed{what: "free", number: 1, closes: true, unsure: true}), 2, ever),
			op(slot(deed{what: "take", number: 2, fence: 11}), 0, 5)}},
	} {
		if got := porcupine.CheckOperationsTimeout(model, test.ops, time.Minute); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
