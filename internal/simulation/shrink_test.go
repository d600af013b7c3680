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
	for n := range p.hosts {
		if slices.Contains(c.hosts, n) {
			continue
		}
		all = append(all, choice{append(slices.Clone(c.hosts), n), c.faults, c.calm, c.short})
	}
	for n := range p.faults {
		if !slices.Contains(c.faults, n) {
			all = append(all, choice{c.hosts, append(slices.Clone(c.faults), n), c.calm, c.short})
		}
	}
	for n, h := range p.hosts {
		if slices.Contains(c.hosts, n) {
			continue
		}
		if !slices.Contains(c.calm, n) && h.weather != (weather{way: h.weather.way}) {
			all = append(all, choice{c.hosts, c.faults, append(slices.Clone(c.calm), n), c.short})
		}
		if !slices.Contains(c.short, n) && len(h.ticks) > 1 {
			all = append(all, choice{c.hosts, c.faults, c.calm, append(slices.Clone(c.short), n)})
		}
	}
	return all
}
