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

// A changeTally is what the masters have answered to one step of an operator.
type changeTally struct {
	quorum      *quorum
	name        string
	replies     []changeReply // of those that could do what was asked
	absent      []string      // the others
	outage      *outage       // why they are
	all         bool          // it is done when all masters have done it
	of          string        // what is told of the lock's holder; "": of that of a majority
	leaves      bool          // the pause is told that a minority had, too
	unconfirmed bool          // some master has done it, or may have
}

// tallied is an error if no majority could do what was asked.
func tallied(q *quorum, name string, keys wire.Keys, answers []masterReply[changeReply]) (*changeTally, error) {
	s := &changeTally{quorum: q, name: name, outage: &outage{quorum: q}}
	var wrong []*lock.NotLockError
	for _, a := range answers {
		err := a.err
		s.unconfirmed = s.unconfirmed || mayBeDone(a)
		if err == nil && a.answer.Code == step.Wrong {
			wrong = append(wrong, &lock.NotLockError{Key: keys.All()[a.answer.Key], What: lock.TypeName(a.answer.Kind)})
			err = wrong[len(wrong)-1]
		}
		if err == nil {
			s.replies = append(s.replies, a.answer)
			continue
		}
		s.absent = append(s.absent, a.address)
		s.outage.addSilent(a.address, err)
	}
	if len(wrong) > q.size-s.need() {
		return nil, wrong[0]
	}
	if len(s.replies) < s.need() {
		return nil, s.unavailable()
	}
	return s, nil
}

// unavailable is that too few masters have answered. Some may have done it all the same.
func (s *changeTally) unavailable() error {
	return lock.Unconfirmed(s.outage.unavailable(), s.unconfirmed)
}

func (s *changeTally) need() int { return lock.Majority(s.quorum.size) }

// count is how many masters have answered with one of these codes.
func (s *changeTally) count(codes ...int64) (n int) {
	for _, r := range s.replies {
		if slices.Contains(codes, r.Code) {
			n++
		}
	}
	return n
}

// outcome is that things are as they were wanted, if so many masters say one of these codes
// as are needed; done, if this change has done it. Otherwise it says what most masters object,
// if any do, and if those that did not answer could not turn the scales.
func (s *changeTally) outcome(done bool, good ...int64) (lock.ChangeResult, error) {
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
func (s *changeTally) objection() (most lock.Objection) {
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

func (s *changeTally) refused(o lock.Objection) error {
	return &lock.RefusedError{Name: s.name, Refusal: o, ChangeResult: s.changed(false)}
}

// holder is what a majority has at the lock's key, as far as those that did not answer could
// make one.
func (s *changeTally) holder() string {
	masters := make(map[string]int)
	for _, r := range s.replies {
		masters[r.run()]++
	}
	most := noHolder
	for _, r := range s.replies { // of as many the first, that it is the same again
		holder := r.run()
		n := masters[holder]
		if holder != noHolder && n+len(s.absent) >= s.need() && (most == noHolder || n > masters[most]) {
			most = holder
		}
	}
	return most
}

// has reports whether a run has the lock of a master.
func (s *changeTally) has(run string) bool {
	return slices.ContainsFunc(s.replies, func(r changeReply) bool { return r.run() == run })
}

// ended reports whether a master knows that a run has ended.
func (s *changeTally) ended(run string) bool {
	return slices.ContainsFunc(s.replies, func(r changeReply) bool {
		h, _, _ := wire.ReadHeld(r.Held)
		return r.run() == run && !h.Ended.IsZero()
	})
}

// changed is how things are. Of the holder's lease the longest rest counts.
func (s *changeTally) changed(done bool) lock.ChangeResult {
	out := lock.ChangeResult{Done: done, Now: time.UnixMilli(s.replies[0].Now), Absent: s.absent}
	out.Ran = slices.ContainsFunc(s.replies, func(r changeReply) bool { return r.Ran })
	out.Unconfirmed = s.ambiguous()
	if s.leaves || s.paused() {
		out.Pause = s.pause()
	}
	holder := cmp.Or(s.of, s.holder())
	for _, r := range s.replies {
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

// ambiguous reports whether no master can say what this change has done, and some may have done it.
func (s *changeTally) ambiguous() bool {
	some := false
	for _, r := range s.replies {
		if r.Code == step.Changed && !r.ambiguous {
			return false
		}
		some = some || r.ambiguous
	}
	return some
}

// pauses are those that masters have, the longest first.
func (s *changeTally) pauses() (all []*lock.PauseMark) {
	for _, r := range s.replies {
		if p := wire.ReadPause(r.Pause); p != nil {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b *lock.PauseMark) int { return cmp.Compare(lasts(b), lasts(a)) })
	return all
}

// pause is the one with which no majority is paused any more; nil if no master has any.
func (s *changeTally) pause() *lock.PauseMark {
	all := s.pauses()
	if len(all) == 0 {
		return nil
	}
	return all[min(len(all), s.need())-1]
}

// leftOver are the ends of pauses that a master still has that was away then.
func (s *changeTally) leftOver() (ends []lock.PauseEnd) {
	for _, p := range s.pauses() {
		for _, r := range s.replies {
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
func (s *changeTally) paused() bool { return len(s.pauses()) >= s.need() }

func lasts(p *lock.PauseMark) int64 {
	if p.Until.IsZero() {
		return math.MaxInt64
	}
	return p.Until.UnixMilli()
}
