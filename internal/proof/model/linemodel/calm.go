package linemodel

// calm lets nothing go wrong from s on: what is under way arrives, runs do what they do,
// the locks of those who are no more lapse, and, when nothing else happens, those who wait
// look. It returns what is wrong if somebody who lives does not get the lock then.
func (l Line) calm(s state) (broken string) {
	for round := range 4 * l.Runs {
		for l.proceed(&s) {
		}
		if s.over() {
			return ""
		}
		l.passTime(&s, round > 0)
	}
	return "somebody waits for ever"
}

// over: nobody who has begun wants the lock any more.
func (s *state) over() bool {
	for c := range s.runs {
		if p := s.runs[c].phase; p != outside && p != gone && p != dead {
			return false
		}
	}
	return true
}

// proceed makes the first step that needs no time, if there is one.
func (l Line) proceed(s *state) (made bool) {
	var next state
	take := func(_ Step, n state, _ string) {
		if !made {
			next, made = n, true
		}
	}
	for c := range l.Runs {
		r := s.runs[c]
		switch {
		case r.way == reply:
			l.answer(*s, c, take)
		case r.way != nothing:
			l.arrive(*s, c, take)
		case r.phase == waiting && r.call && !r.called:
			l.hear(*s, c, take)
		case r.phase == holding, r.phase == waiting && r.called:
			l.act(*s, c, take)
		}
		if made {
			*s = next
			return true
		}
	}
	return false
}

// passTime lets so much time pass that whoever waits looks. Who is handed the lock and
// lives confirms it in that time: only after another such time the window ends.
func (l Line) passTime(s *state, again bool) {
	if s.owner != 0 && (s.runs[s.owner-1].phase >= gone || again && !s.lease) {
		s.expire(l.Fault)
	}
	for c := range l.Runs {
		switch r := &s.runs[c]; {
		case r.phase == waiting && l.Fault != NeverLook:
			r.ear = true
			s.send(c, asking)
		case r.phase >= gone:
			r.ear, r.silent = false, s.placeOf(c) >= 0
		}
	}
}
