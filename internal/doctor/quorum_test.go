package doctor

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

// masters are the visits of a quorum's masters of which each votes after so long.
func masters(waits ...time.Duration) (e *Examination, visits []*visit) {
	e = &Examination{Servers: lock.Servers{URLs: make([]string, len(waits))}}
	for _, wait := range waits {
		v := &visit{Examination: e}
		if wait > 0 {
			v.told.votes = time.Now().Add(wait)
		}
		visits = append(visits, v)
	}
	return e, visits
}

func TestAQuorumThatLacksVotersFailsUntilAMajorityVotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		waits []time.Duration
		says  string
		until time.Duration
	}{
		{[]time.Duration{0, 0, time.Minute}, "", 0},
		{[]time.Duration{time.Hour, 0, time.Minute}, "1 of 3 masters votes, and 2 are needed", time.Minute},
		{[]time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour}, "0 of 3 masters vote, and 2 are needed",
			2 * time.Hour},
		{[]time.Duration{0, time.Hour, time.Minute, 2 * time.Hour, 0}, "2 of 5 masters vote, and 3 are needed",
			time.Minute},
	} {
		e, visits := masters(c.waits...)
		found := e.unelectable(visits)
		if c.says == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].Result != Fail ||
			!strings.HasPrefix(found[0].Message, c.says+": no job runs (69) until ") {
			t.Errorf("%v: %+v", c.waits, found)
			continue
		}
		for _, v := range visits {
			at := strings.HasSuffix(found[0].Message, " until "+lock.LocalTime(v.told.votes))
			wanted := time.Until(v.told.votes).Round(time.Minute) == c.until
			if at != wanted && !v.told.votes.IsZero() {
				t.Errorf("%v: %s", c.waits, found[0].Message)
			}
		}
	}
}

func TestWhatIsNoMajorityWithoutTheRightsIsSaidByThem(t *testing.T) {
	t.Parallel()
	e, visits := masters(0, time.Minute, time.Minute)
	for _, v := range visits[:2] {
		v.found = []Finding{about("rights", Fail, "user jobs lacks +set")}
	}
	found := surveyQuorum(t.Context(), e, visits)
	if len(found) != 1 || found[0].Result != Fail ||
		!strings.HasPrefix(found[0].Message, "1 of 3 masters can be used") {
		t.Errorf("%+v", found)
	}
	if why := e.unplayable(visits); why != "a right is missing that every run needs" {
		t.Errorf("a rehearsal is %q", why)
	}
}
