package quorum

import (
	"slices"

	"redlockrun/internal/lock"
)

// slots are those of all masters.
func (m *merger) slots(holder string) {
	var names []string
	states := map[string][]lock.JobSlot{}
	for _, s := range m.seen {
		for _, slot := range s.job.Slots {
			if states[slot.Name] == nil {
				names = append(names, slot.Name)
			}
			states[slot.Name] = append(states[slot.Name], slot)
		}
	}
	for _, name := range names {
		m.job.Slots = append(m.job.Slots, m.slot(name, states[name], holder))
	}
	slices.SortStableFunc(m.job.Slots, func(a, b lock.JobSlot) int { return b.Touched.Compare(a.Touched) })
}

// slot is closed if any master says so, and has all tries that failed. What is in doubt at a
// master, as it does not know how the run ended, failed if a majority says so; and a majority
// says who has begun.
func (m *merger) slot(name string, states []lock.JobSlot, holder string) (slot lock.JobSlot) {
	slot.Name = name
	unconfirmed, begun := map[string]int{}, map[string]int{}
	for _, s := range states {
		if s.Touched.After(slot.Touched) {
			slot.Touched = s.Touched
		}
		if s.Closed && !slot.Closed {
			slot.Closed, slot.By = true, s.By
		}
		if begun[s.Begun.Run]++; begun[s.Begun.Run] == m.need {
			slot.Begun = s.Begun
		}
		for _, t := range s.Failures {
			if unconfirmed[t.Run]++; t.End == "" && unconfirmed[t.Run] >= m.need {
				t.End = lock.EndVanished
			}
			i := slices.IndexFunc(slot.Failures, func(other lock.Try) bool { return other.Run == t.Run })
			if t.End != "" && t.Run != holder && i < 0 {
				slot.Failures = append(slot.Failures, t)
			}
		}
	}
	if slot.Closed {
		slot.Begun, slot.Failures = lock.Try{}, nil
	}
	return slot
}
