package simulation

import (
	"slices"
	"testing"
)

// shrink leaves out of a world whatever does not matter for what is wrong in it, as far as
// that is found by leaving out one thing after the other.
func shrink(t *testing.T, v verdict) verdict {
	if again := simulate(t, v.seed, v.choice, true); len(again.wrong) > 0 {
		v = again
	}
	for progress := true; progress; {
		progress = false
		for _, c := range smaller(v.seed, v.choice) {
			if less := simulate(t, v.seed, c, true); len(less.wrong) > 0 {
				v, progress = less, true
				break
			}
		}
	}
	return v
}

// smaller are choices that leave one thing more out.
func smaller(seed uint64, c choice) (all []choice) {
	p := planOf(seed)
	without := func(of func(*choice) *[]int, n int) {
		if less := c; !slices.Contains(*of(&less), n) {
			*of(&less) = append(slices.Clone(*of(&less)), n)
			all = append(all, less)
		}
	}
	for n := range p.hosts {
		without(func(c *choice) *[]int { return &c.hosts }, n)
	}
	for n := range p.faults {
		without(func(c *choice) *[]int { return &c.faults }, n)
	}
	for n := range len(p.deeds) + len(p.looks) {
		without(func(c *choice) *[]int { return &c.acts }, n)
	}
	for n, h := range p.hosts {
		if slices.Contains(c.hosts, n) {
			continue
		}
		if h.network != (networkProfile{way: h.network.way}) {
			without(func(c *choice) *[]int { return &c.calm }, n)
		}
		if len(h.ticks) > 1 {
			without(func(c *choice) *[]int { return &c.short }, n)
		}
		if slices.ContainsFunc(h.ticks, func(t tick) bool { return t.wish != wish{} }) {
			without(func(c *choice) *[]int { return &c.plain }, n)
		}
	}
	return all
}
