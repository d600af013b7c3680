package linemodel

// arrive has the server carry out the request of run c.
func (l Line) arrive(s state, c int, out emit) {
	r := &s.runs[c]
	if r.way != request && r.way != reminder {
		return
	}
	if l.Fault == NotifyFirst && r.phase == leaving && r.way == request && int(s.owner) == c+1 {
		r.way = reminder
		if first := int(s.line[0]) - 1; first >= 0 {
			s.runs[first].call = s.runs[first].ear
		}
		out(Step{"calls the first in line", c}, s, "")
		return
	}
	before, phase := s, r.phase
	answer := l.serve(&s, c, phase)
	r.way, r.answer = reply, answer
	if r.fence = 0; answer == held {
		r.fence = s.fence
	}
	out(Step{"is served: " + script(phase) + outcome(&s, c), c}, s, l.broken(&before, &s, c, phase))
}

// arriveLate has the server carry out a request of run c that was given up. It may come
// again.
func (l Line) arriveLate(s state, c int, out emit) {
	for _, phase := range []uint8{asking, confirming, leaving} {
		if s.runs[c].late>>phase&1 == 0 {
			continue
		}
		before, next := s, s
		l.serve(&next, c, phase)
		if next != s {
			out(Step{"is served late: " + script(phase) + outcome(&next, c), c}, next,
				l.broken(&before, &next, c, phase))
		}
	}
}

func script(phase uint8) string {
	return map[uint8]string{asking: "acquire", confirming: "confirm", leaving: "release"}[phase]
}

// outcome is whose the lock is then.
func outcome(s *state, c int) string {
	switch int(s.owner) - 1 {
	case -1:
		return "; the lock is free"
	case c:
		return "; it has the lock"
	}
	return "; " + string(rune('A'+s.owner-1)) + " has the lock"
}

func (l Line) serve(s *state, c int, phase uint8) (answer uint8) {
	switch phase {
	case asking:
		return l.acquire(s, c)
	case confirming:
		return s.confirm(c)
	}
	return l.release(s, c)
}

// acquire is acquire.lua in the mode "wait" or "poll".
func (l Line) acquire(s *state, c int) (answer uint8) {
	me := uint8(c + 1)
	if s.owner == me && l.Fault != OwnIsBusy {
		return s.confirm(c)
	}
	if s.runs[c].buried {
		return no
	}
	if s.owner == 0 {
		if l.Fault == WakeOnly {
			s.drop(c)
		} else {
			l.advance(s, c)
		}
		if s.owner == 0 {
			l.grant(s, c)
		}
		if s.owner == me {
			return taken
		}
	}
	s.look(c)
	return busy
}

// look announces run c in line, at the end if it is not there yet.
func (s *state) look(c int) {
	r := &s.runs[c]
	if s.placeOf(c) < 0 {
		for i := range s.line {
			if s.line[i] == 0 {
				s.line[i] = uint8(c + 1)
				break
			}
		}
		r.steady = r.ear && r.phase < leaving
	}
	r.silent, r.callable = false, r.ear
}

func (s *state) confirm(c int) (answer uint8) {
	if int(s.owner) != c+1 {
		return no
	}
	s.lease = true
	return held
}

// release is release.lua.
func (l Line) release(s *state, c int) (answer uint8) {
	r := &s.runs[c]
	quiet := l.Fault == LeaveQuietly && !s.lease
	if int(s.owner) == c+1 && !quiet || l.Fault == DeleteBlindly {
		s.owner, s.lease = 0, false
	}
	r.over, r.buried = true, r.buried || r.doubt && l.Fault != NoTombstone
	s.drop(c)
	if s.owner != 0 {
		return no
	}
	switch l.Fault {
	case WakeOnly:
		if first := int(s.line[0]) - 1; first >= 0 {
			s.runs[first].call = s.runs[first].ear
		}
	case NotifyFirst:
	default:
		l.advance(s, -1)
	}
	return no
}

// advance gives the free lock to the first in line that is there, as the caller is.
func (l Line) advance(s *state, caller int) {
	for s.owner == 0 && s.line[0] != 0 {
		c := int(s.line[0]) - 1
		if l.Fault == LastFirst {
			for i := range s.line {
				if s.line[i] != 0 {
					c = int(s.line[i]) - 1
				}
			}
		}
		there := c == caller || l.kept(s, c)
		s.drop(c)
		if there {
			l.grant(s, c)
		}
		if s.owner != 0 && c != caller && s.runs[c].ear {
			s.runs[c].call = true
		}
	}
}

// kept reports whether the lock is handed to run c.
func (l Line) kept(s *state, c int) bool {
	r := &s.runs[c]
	return !r.silent && (r.ear || !r.callable) || l.Fault == AskNobody
}

func (l Line) grant(s *state, c int) {
	s.owner, s.lease = uint8(c+1), l.Fault == WholeLease
	s.counter++
	s.fence = s.counter
}

func (s *state) placeOf(c int) int {
	for i, who := range s.line {
		if int(who) == c+1 {
			return i
		}
	}
	return -1
}

// drop takes run c out of line.
func (s *state) drop(c int) {
	place := s.placeOf(c)
	if place < 0 {
		return
	}
	copy(s.line[place:], s.line[place+1:])
	s.line[maxRuns-1] = 0
	s.runs[c].silent, s.runs[c].callable = false, false
}

// broken is what is wrong after the server has made a step for run c.
func (l Line) broken(before, s *state, c int, phase uint8) string {
	if phase == leaving && int(s.owner) == c+1 {
		return "a run that has left has the lock"
	}
	if s.owner == 0 && s.line[0] != 0 && phase != confirming { // who is told "not yours" looks
		return "the lock is free, and somebody waits who was not given it"
	}
	if s.owner != 0 && s.owner != before.owner {
		if broken := unjust(before, s, c); broken != "" {
			return broken
		}
	}
	for d := range s.runs {
		r := &s.runs[d]
		mine, place := int(s.owner) == d+1, s.placeOf(d)
		switch {
		case mine && place >= 0:
			return "a run waits for its own lock"
		case r.over && (mine || place >= 0):
			return "a run that has left has the lock, or stands in line"
		}
	}
	return ""
}

// unjust is what is wrong with a grant.
func unjust(before, s *state, c int) string {
	to := int(s.owner) - 1
	r := &before.runs[to]
	for _, who := range before.line {
		if int(who) == to+1 {
			break
		}
		if d := int(who) - 1; d >= 0 && before.runs[d].steady && before.runs[d].phase != leaving &&
			before.runs[d].phase != gone {
			return "the lock goes past somebody undisturbed who came earlier"
		}
	}
	switch {
	case to != c && r.callable && !r.ear:
		return "the lock is handed to a run that is not there"
	case s.lease && r.phase == dead:
		return "a run that is dead gets a whole lease"
	}
	return ""
}
