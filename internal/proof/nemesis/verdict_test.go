//go:build linux

package nemesis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"

	"github.com/anishathalye/porcupine"
)

// An overlap is two runs of one key whose jobs lived at once.
type overlap struct {
	first, second *run
	at            instant // when the second began
	stood         bool    // the machine stood still for longer than a guard allows for: outside of what is promised
}

func (o overlap) String() string {
	return fmt.Sprintf("at %v %v began beside %v", o.at, o.second, o.first)
}

// A verdict is what was found.
type verdict struct {
	runs, takes, handovers, starts int
	dismissals, refusals           int
	pauses, stops, unlocks         int
	operations                     int
	statuses                       map[int]int
	dealt                          map[string]int
	stood, stoodInAll              time.Duration // the longest gap, and those together that a guard does not allow for
	inside, outside                []overlap
	findings                       []string // what may not be
}

func (v *verdict) find(format string, args ...any) {
	v.findings = append(v.findings, fmt.Sprintf(format, args...))
}

// judge is called when all has ended.
func (n *nemesis) judge() *verdict {
	v := &verdict{statuses: map[int]int{}, dealt: n.dealt}
	for _, err := range n.broke {
		v.find("the nemesis itself: %v", err)
	}
	for _, line := range n.journal.wrong {
		v.find("journal: %s", line)
	}
	for _, g := range n.journal.gaps {
		v.stood = max(v.stood, g.long)
		if g.long > leastTTL/40 {
			v.stoodInAll += g.long
		}
	}
	n.findOverlaps(v)
	for _, r := range n.runs {
		n.judgeRun(v, r)
	}
	for _, a := range n.acts {
		n.judgeAct(v, a)
	}
	for _, key := range n.keys {
		result, operations, trouble := n.linear(key)
		v.operations += operations
		if result != porcupine.Ok && !slices.ContainsFunc(v.outside,
			func(o overlap) bool { return o.first.key == key }) {
			v.find("the history of %s, %d operations, is not that of a lock: %s\n%s", key, operations, result, trouble)
		}
	}
	if !redistest.Until(patience, func() bool { return len(left(n.dir)) == 0 }) {
		v.find("left: %v", left(n.dir))
	}
	return v
}

// A tenure is the time in which the jobs of a run are known to have lived.
type tenure struct {
	run      *run
	from, to instant
	beside   int
}

// tenures are those of a key, in the order in which they began.
func (n *nemesis) tenures(key string) (all []tenure) {
	for number, starts := range n.journal.starts {
		if r := n.runs[number]; r != nil && r.key == key {
			t := tenure{run: r, from: starts[0].began, to: starts[len(starts)-1].alive}
			for _, s := range starts {
				t.beside = cmp.Or(t.beside, s.beside)
			}
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b tenure) int { return cmp.Compare(a.from, b.from) })
	return all
}

// findOverlaps counts them directly: by what the kernel told a job, and by the times.
func (n *nemesis) findOverlaps(v *verdict) {
	for _, key := range n.keys {
		last := tenure{}
		for _, t := range n.tenures(key) {
			v.takes++
			if last.run != nil && t.run.launched < last.run.exited && t.run.waits {
				v.handovers++
			}
			switch {
			case last.run != nil && t.from < last.to:
				v.overlap(n.overlapOf(last.run, t))
			case t.beside != 0 && n.runs[t.beside] != nil:
				v.overlap(n.overlapOf(n.runs[t.beside], t))
			}
			if t.to > last.to {
				last = t
			}
		}
	}
}

func (n *nemesis) overlapOf(first *run, t tenure) overlap {
	return overlap{first: first, second: t.run, at: t.from, stood: n.stood(t.from, first.ttl)}
}

func (v *verdict) overlap(o overlap) {
	if o.stood {
		v.outside = append(v.outside, o)
		return
	}
	v.inside = append(v.inside, o)
	v.find("two at once: %v", o)
}

// stood reports whether, shortly before an instant, the machine stood still for longer than a
// guard of a run with that ttl allows for, which is half of the margin.
func (n *nemesis) stood(at instant, ttl time.Duration) bool {
	return slices.ContainsFunc(n.journal.gaps, func(g gap) bool {
		return g.long > ttl/40 && g.end > at.plus(-2*time.Second) && g.end < at.plus(time.Second)
	})
}

// judgeRun holds a run to what it says by its status.
func (n *nemesis) judgeRun(v *verdict, r *run) {
	v.runs++
	v.statuses[r.status]++
	all := n.journal.starts[r.number]
	v.starts += len(all)
	if why := r.unlike(all, n.told(r)); why != "" {
		v.find("%v: status %d, %s; it said %q", r, r.status, why, r.said)
	}
	for i, s := range all {
		if s.run != all[0].run || s.fence != all[0].fence || s.attempt != i+1 {
			v.find("%v: start %d is attempt %d of %s with fence %d", r, i+1, s.attempt, s.run, s.fence)
		}
	}
	if len(all) == 0 && r.status == 0 {
		v.dismissals++
	}
	if r.status == 75 {
		v.refusals++
	}
}

// told is the first time that an operator told a run to stop; nil: none has.
func (n *nemesis) told(r *run) *act {
	for i, a := range n.acts {
		if a.number == r.number && a.what == "stop" && strings.HasPrefix(a.said, "told ") {
			return &n.acts[i]
		}
	}
	return nil
}

// unlike says in what a status is not like what the run did; "": it is.
func (r *run) unlike(all []*start, told *act) string {
	var last start
	if len(all) > 0 {
		last = *all[len(all)-1]
	}
	ran := len(all) > 0
	switch r.status {
	case 0:
		if !ran && !r.dismissed() || ran && !(last.ended && last.code == 0) {
			return "but its job has not ended well"
		}
	case 3:
		if !last.ended || last.code != 3 {
			return "but its job has not failed"
		}
	case 69, 75:
		switch {
		case ran:
			return "but its job ran"
		case r.status == 75 && r.solo:
			return "but nobody else wants its lock"
		case r.said == "":
			return "and it does not say why"
		}
	case 76: // what was lost is for the history to say
	case 137:
		if !r.was(killed) && !r.was(waiterKilled) && !r.was(jobKilled) && !(told != nil && r.task.ignoresTERM) {
			return "but nobody killed it"
		}
	case 143:
		if told == nil && !r.was(terminated) && r.report.How != "stopped" && !strings.Contains(r.said, "stop") {
			return "but nobody stopped it"
		}
	case 71:
		if !r.was(guardKilled) {
			return "but its guard lived"
		}
	default:
		return "which means nothing here"
	}
	return ""
}

// judgeAct holds a job to what an operator was told of it.
func (n *nemesis) judgeAct(v *verdict, a act) {
	last := n.journal.last(a.number)
	switch {
	case !slices.Contains([]int{0, 69, 75}, a.status):
		v.find("%s %s: status %d, %q, %q", a.what, a.key, a.status, a.said, a.wrong)
	case a.what == "pause" && (a.done() || a.status == 75):
		v.pauses++
	case a.what == "unlock" && a.done() && strings.HasPrefix(a.said, "took "):
		v.unlocks++
		if last.alive > a.to && !n.stood(a.to, leastTTL) {
			v.find("the job of %v lived %s after its lock was taken away as a dead one's", n.runs[a.number],
				last.alive.sub(a.to))
		}
	case a.what == "stop" && strings.HasPrefix(a.said, "told "):
		n.judgeStop(v, a, last)
	}
}

// judgeStop: who was told to stop learns of it by its next renewal, and does not outlive the
// lease that it had.
func (n *nemesis) judgeStop(v *verdict, a act, last *start) {
	r := n.runs[a.number]
	if r.status == 143 {
		v.stops++
	}
	switch {
	case a.done() && last.alive > a.to && !n.stood(a.to, r.ttl):
		v.find("the job of %v lived %s after it was said to have ended", r, last.alive.sub(a.to))
	case last.alive > a.to.plus(r.ttl+2*time.Second):
		v.find("the job of %v lived for %s after it was told to stop", r, last.alive.sub(a.to))
	}
}

// String are the figures.
func (v *verdict) String() string {
	return fmt.Sprintf(`%d runs, %d of which took a contended lock, %d by a hand-over; %d starts of jobs
by status %v; %d dismissed, %d refused
faults %v
paused %d times, stopped %d runs, unlocked %d; %d operations checked
overlaps: %d inside, %d while the machine stood still (at most for %s, in all for %s)`,
		v.runs, v.takes, v.handovers, v.starts, v.statuses, v.dismissals, v.refusals, v.dealt, v.pauses, v.stops,
		v.unlocks, v.operations,
		len(v.inside), len(v.outside), v.stood.Round(time.Millisecond), v.stoodInAll.Round(time.Millisecond))
}

// enough fails if so little happened that nothing was shown.
func (v *verdict) enough(t *testing.T, d time.Duration) {
	t.Helper()
	perMinute := func(what string, got, want int) {
		if least := max(1, int(float64(want)*d.Minutes())); got < least {
			t.Errorf("%s: %d, which is less than %d", what, got, least)
		}
	}
	if v.stoodInAll > d/5 {
		t.Errorf("the machine stood still for %s: nothing can be said of so much of the time", v.stoodInAll)
	}
	perMinute("runs", v.runs, 150)
	perMinute("contended locks taken", v.takes, 40)
	perMinute("hand-overs", v.handovers, 15)
	perMinute("dismissals", v.dismissals, 3)
	perMinute("refusals", v.refusals, 10)
	perMinute("pauses", v.pauses, 3)
	perMinute("stopped runs", v.stops, 3)
	for _, f := range storeFaults {
		perMinute(f.name, v.dealt[f.name], 1)
	}
	for _, name := range processFaults {
		perMinute(name, v.dealt[name], 1)
	}
}

// A nemesis of each place: nothing that happens inside of what is promised makes two run at once.
func TestNemesis(t *testing.T) {
	d, seed := length(t), locktest.Seed(t)
	program := build(t, seededFault{})
	for name := range places {
		t.Run(name, func(t *testing.T) {
			t.Logf("seed %d, %s", seed, d)
			n := newNemesis(t, newPlace(t, name), program, seed)
			must(t, n.contend(d))
			v := n.judge()
			t.Log(v)
			for _, text := range v.findings {
				t.Error(text)
			}
			v.enough(t, d)
		})
	}
}
