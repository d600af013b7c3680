package quorum

import (
	"cmp"
	"math"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
)

// A survey is what the masters have answered to one step of an operator.
type survey struct {
	quorum  *quorum
	name    string
	said    []changeReply // of those that could do what was asked
	absent  []string      // the others
	outage  *outage       // why they are
	all     bool          // it is done when all masters have done it
	of      string        // what is told of the lock's holder; "": of that of a majority
	leaves  bool          // the pause is told that a minority had, too
	inDoubt bool          // some master has done it, or may have
}

// surveyed is an error if no majority could do what was asked.
func surveyed(q *quorum, name string, keys wire.Keys, answers []saying[changeReply]) (*survey, error) {
	s := &survey{quorum: q, name: name, outage: &outage{quorum: q}}
	var wrong []*lock.NotLockError
	for _, a := range answers {
		err := a.err
		s.inDoubt = s.inDoubt || mayBeDone(a)
		if err == nil && a.answer.Code == step.Wrong {
			wrong = append(wrong, &lock.NotLockError{Key: keys.All()[a.answer.Key], What: lock.TypeName(a.answer.Kind)})
			err = wrong[len(wrong)-1]
		}
		if err == nil {
			s.said = append(s.said, a.answer)
			continue
		}
		s.absent = append(s.absent, a.address)
		s.outage.addSilent(a.address, err)
	}
	if len(wrong) > q.size-s.need() {
		return nil, wrong[0]
	}
	if len(s.said) < s.need() {
		return nil, s.unavailable()
	}
	return s, nil
}

// unavailable is that too few masters have answered. Some may have done it all the same.
func (s *survey) unavailable() error { return lock.Unconfirmed(s.outage.unavailable(), s.inDoubt) }

func (s *survey) need() int { return lock.Majority(s.quorum.size) }

// count is how many masters have answered with one of these codes.
func (s *survey) count(codes ...int64) (n int) {
	for _, r := range s.said {
		if slices.Contains(codes, r.Code) {
			n++
		}
	}
	return n
}

// outcome is that things are as they were wanted, if so many masters say one of these codes
// as are needed; done, if this change has done it. Otherwise it says what most masters object,
// if any do, and if those that did not answer could not turn the scales.
func (s *survey) outcome(done bool, good ...int64) (lock.ChangeResult, error) {
	need := s.need()
	if s.all {
		need, s.outage.all = s.quorum.size, true
	}
	n := s.count(good...)
	objection := s.objection()
	switch {
	case n >= need:
		return s.changed(done), nil
	case s.all && objection != 0:
		return lock.ChangeResult{}, s.refused(objection)
	case n+len(s.absent) >= need && len(s.absent) > 0:
		return lock.ChangeResult{}, s.unavailable()
	case objection != 0:
		return lock.ChangeResult{}, s.refused(objection)
	}
	return s.changed(false), nil
}

// objection is what most masters object; 0 if as many have nothing to do it to.
func (s *survey) objection() (most lock.Objection) {
	n := 0
	for o := lock.OtherRun; o <= lock.StillRunning; o++ {
		if k := s.count(o.Code()); k > n {
			most, n = o, k
		}
	}
	if n < s.count(step.Nothing) && !s.all {
		return 0
	}
	return most
}

func (s *survey) refused(o lock.Objection) error {
	return &lock.RefusedError{Name: s.name, Refusal: o, ChangeResult: s.changed(false)}
}

// holder is what a majority has at the lock's key, as far as those that did not answer could
// make one.
func (s *survey) holder() string {
	masters := make(map[string]int)
	for _, r := range s.said {
		masters[r.run()]++
	}
	most := noHolder
	for _, r := range s.said { // of as many the first, that it is the same again
		holder := r.run()
		n := masters[holder]
		if holder != noHolder && n+len(s.absent) >= s.need() && (most == noHolder || n > masters[most]) {
			most = holder
		}
	}
	return most
}

// has reports whether a run has the lock of a master.
func (s *survey) has(run string) bool {
	return slices.ContainsFunc(s.said, func(r changeReply) bool { return r.run() == run })
}

// ended reports whether a master knows that a run has ended.
func (s *survey) ended(run string) bool {
	return slices.ContainsFunc(s.said, func(r changeReply) bool {
		h, _, _ := wire.ReadHeld(r.Held)
		return r.run() == run && !h.Ended.IsZero()
	})
}

// changed is how things are. Of the holder's lease the longest rest counts.
func (s *survey) changed(done bool) lock.ChangeResult {
	out := lock.ChangeResult{Done: done, Now: time.UnixMilli(s.said[0].Now), Absent: s.absent}
	out.Ran = slices.ContainsFunc(s.said, func(r changeReply) bool { return r.Ran })
	out.Unconfirmed = s.unsure()
	if s.leaves || s.paused() {
		out.Pause = s.pause()
	}
	holder := cmp.Or(s.of, s.holder())
	for _, r := range s.said {
		if holder == noHolder || r.run() != holder {
			continue
		}
		if holder != byPause && (out.Holder == lock.Holder{} || out.Holder.Ended.IsZero()) {
			out.Holder, out.At, _ = wire.ReadHeld(r.Held)
		}
		if left := r.lease(); left < 0 || out.Left >= 0 && left > out.Left {
			out.Left = left
		}
	}
	return out
}

// unsure reports whether no master can say what this change has done, and some may have done it.
func (s *survey) unsure() bool {
	some := false
	for _, r := range s.said {
		if r.Code == step.Changed && !r.unsure {
			return false
		}
		some = some || r.unsure
	}
	return some
}

// pauses are those that masters have, the longest first.
func (s *survey) pauses() (all []*lock.PauseMark) {
	for _, r := range s.said {
		if p := wire.ReadPause(r.Pause); p != nil {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b *lock.PauseMark) int { return cmp.Compare(lasts(b), lasts(a)) })
	return all
}

// pause is the one with which no majority is paused any more; nil if no master has any.
func (s *survey) pause() *lock.PauseMark {
	all := s.pauses()
	if len(all) == 0 {
		return nil
	}
	return all[min(len(all), s.need())-1]
}

// leftOver are the ends of pauses that a master still has that was away then.
func (s *survey) leftOver() (ends []lock.PauseEnd) {
	for _, p := range s.pauses() {
		for _, r := range s.said {
			for _, end := range wire.ReadPauseEnds(r.Ends) {
				if end.ID == p.ID && !slices.Contains(ends, end) {
					ends = append(ends, end)
				}
			}
		}
	}
	return ends
}

// paused reports whether a majority is.
func (s *survey) paused() bool { return len(s.pauses()) >= s.need() }

func lasts(p *lock.PauseMark) int64 {
	if p.Until.IsZero() {
		return math.MaxInt64
	}
	return p.Until.UnixMilli()
}
