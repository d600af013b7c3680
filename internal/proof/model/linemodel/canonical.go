package linemodel

import "slices"

// canonical numbers the runs by what is known of them: no promise depends on which is
// which. Where a fault is built in they keep their numbers, so that a trace can be read.
func (l Line) canonical(s state) state {
	if l.Fault != None {
		return s
	}
	var ranks [maxRuns]uint64
	var order [maxRuns]int
	for c := range l.Runs {
		order[c], ranks[c] = c, s.rank(c)
	}
	by := order[:l.Runs]
	slices.SortFunc(by, func(a, b int) int {
		switch {
		case ranks[a] < ranks[b]:
			return -1
		case ranks[a] > ranks[b]:
			return 1
		}
		return 0
	})
	next := s
	next.owner = 0
	for to, from := range by {
		next.runs[to] = s.runs[from]
		if int(s.owner) == from+1 {
			next.owner = uint8(to + 1)
		}
		if place := s.placeOf(from); place >= 0 {
			next.line[place] = uint8(to + 1)
		}
	}
	return next
}

// rank packs what is known of run c into a number; no field is larger than its room.
func (s *state) rank(c int) uint64 {
	r := &s.runs[c]
	rank := uint64(s.placeOf(c) + 1)
	rank = rank<<1 | bit(int(s.owner) == c+1)
	for _, small := range []uint8{r.phase, r.way, r.answer} {
		rank = rank<<4 | uint64(small)
	}
	rank = rank<<8 | uint64(r.fence)
	rank = rank<<8 | uint64(r.late)
	for _, yes := range []bool{r.called, r.call, r.doubt, r.ear, r.callable, r.silent, r.steady, r.buried, r.over} {
		rank = rank<<1 | bit(yes)
	}
	return rank
}

func bit(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}
