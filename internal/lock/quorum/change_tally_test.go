package quorum

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/step"
)

const (
	oneRun   = "01KAMHYV00FR0ZEN000000000A"
	otherRun = "01KAMHYV00FR0ZEN000000000B"
)

// by is the reply of a master whose lock a run has, for left ms.
func by(run string, code, left int64) changeReply {
	return changeReply{ChangeReply: step.ChangeReply{Code: code, Left: left,
		Held: `{"run":"` + run + `","vote":"00000001.00000000.00","v":1,"at":1}`, Now: 1}}
}

func freeBy(code int64) changeReply {
	return changeReply{ChangeReply: step.ChangeReply{Code: code, Left: -2, Now: 1}}
}

func pausedBy(who string, until time.Duration) changeReply {
	value := fmt.Sprintf(`{"pause":"%s","v":1,"by":"%s","why":"","since":1,"until":%d}`, oneRun, who,
		until.Milliseconds())
	return changeReply{ChangeReply: step.ChangeReply{Code: step.Already, Left: 1000, Held: value, Pause: value, Now: 1}}
}

func tallyOf(size int, said ...changeReply) *changeTally {
	s := &changeTally{quorum: &quorum{size: size}, replies: said, outage: &outage{quorum: &quorum{size: size}}}
	for range size - len(said) {
		s.absent = append(s.absent, "away")
	}
	return s
}

func TestWhoHasTheLockOfAMajority(t *testing.T) {
	for i, c := range slices.Repeat([]struct {
		tally *changeTally
		want  string
	}{
		{tallyOf(3, by(oneRun, 0, 1), by(oneRun, 0, 1), by(otherRun, 0, 1)), oneRun},
		{tallyOf(3, by(oneRun, 0, 1), freeBy(0), freeBy(0)), noHolder},
		{tallyOf(3, by(oneRun, 0, 1), freeBy(0)), oneRun}, // with the one that is away
		{tallyOf(5, by(oneRun, 0, 1), by(otherRun, 0, 1), by(otherRun, 0, 1), pausedBy("x", 0), freeBy(0)), noHolder},
		{tallyOf(5, by(oneRun, 0, 1), by(otherRun, 0, 1), by(otherRun, 0, 1), freeBy(0)), otherRun},
		{tallyOf(3, pausedBy("x", 0), pausedBy("y", 0), by(otherRun, 0, 1)), byPause},
		{tallyOf(3, by(otherRun, 0, 1), by(oneRun, 0, 1)), otherRun}, // the first of those who may have it
	}, 20) {
		if got := c.tally.holder(); got != c.want {
			t.Errorf("%d: %q", i, got)
		}
	}
}

// What is told of a lease is the longest rest, and of pauses the one with which a majority
// is paused no more.
func TestWhatIsToldOfSeveralMasters(t *testing.T) {
	out := tallyOf(3, by(oneRun, 1, 1000), by(oneRun, 1, 3000), by(oneRun, 1, 2000)).changed(true)
	if out.Left != 3*time.Second || out.Holder.Run != oneRun || !out.Done {
		t.Errorf("%+v", out)
	}
	for _, c := range []struct {
		tally *changeTally
		want  string
	}{
		{tallyOf(3, pausedBy("hour", time.Hour), pausedBy("day", 24*time.Hour), pausedBy("ever", 0)), "day"},
		{tallyOf(3, pausedBy("hour", time.Hour), pausedBy("ever", 0)), "hour"},
		{tallyOf(3, pausedBy("hour", time.Hour), freeBy(0), freeBy(0)), ""},
	} {
		if out := c.tally.changed(false); (out.Pause == nil) != (c.want == "") || out.Pause != nil &&
			out.Pause.By != c.want {
			t.Errorf("%q: %+v", c.want, out.Pause)
		}
	}
}

func TestWhatTheAnswersOfMastersMeanTogether(t *testing.T) {
	other, held := lock.OtherRun.Code(), lock.StillHeld.Code()
	unavailable := errors.New("unavailable")
	for i, c := range []struct {
		tally *changeTally
		good  []int64
		want  error // *RefusedError of the objection, unavailable, or nil
	}{
		{tallyOf(3, freeBy(step.Changed), freeBy(step.Changed)), []int64{step.Changed}, nil},
		{tallyOf(3, freeBy(step.Changed), freeBy(other)), []int64{step.Changed}, unavailable},
		{tallyOf(3, freeBy(other), freeBy(other)), []int64{step.Changed}, &lock.RefusedError{Refusal: lock.OtherRun}},
		{tallyOf(3, freeBy(other), freeBy(step.Nothing), freeBy(step.Nothing)), []int64{step.Changed}, nil},
		{tallyOf(5, freeBy(held), freeBy(held), freeBy(other), freeBy(step.Changed), freeBy(step.Changed)),
			[]int64{step.Changed},
			&lock.RefusedError{Refusal: lock.StillHeld}},
	} {
		_, err := c.tally.outcome(true, c.good...)
		var no, wanted *lock.RefusedError
		switch {
		case c.want == nil && err == nil:
		case c.want == unavailable && errors.As(err, new(*lock.UnavailableError)):
		case errors.As(c.want, &wanted) && errors.As(err, &no) && no.Refusal == wanted.Refusal:
		default:
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
	}
}
