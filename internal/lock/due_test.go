package lock

import (
	"math/rand/v2"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is so many minutes after noon.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// span is a pause between two minutes after noon; to < 0: no end is known.
func span(from, to int) PauseSpan {
	if to < 0 {
		return PauseSpan{Since: at(from)}
	}
	return PauseSpan{Since: at(from), Until: at(to)}
}

func TestThePausedTimeMovesTheDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		pauses []PauseSpan
		want   int // minutes after noon, of 60 since noon
	}{
		"no pause":                      {nil, 60},
		"one within":                    {[]PauseSpan{span(10, 30)}, 80},
		"one before":                    {[]PauseSpan{span(-30, -10)}, 60},
		"one that began before":         {[]PauseSpan{span(-30, 10)}, 70},
		"one at the very deadline":      {[]PauseSpan{span(60, 70)}, 70},
		"one after the deadline":        {[]PauseSpan{span(61, 600)}, 60},
		"two":                           {[]PauseSpan{span(10, 20), span(40, 45)}, 75},
		"two, the later first":          {[]PauseSpan{span(40, 45), span(10, 20)}, 75},
		"one in the time of another":    {[]PauseSpan{span(10, 60), span(20, 30)}, 110},
		"two that overlap":              {[]PauseSpan{span(10, 30), span(20, 40)}, 90},
		"the first brings in the next":  {[]PauseSpan{span(10, 50), span(90, 100)}, 110},
		"no end is known":               {[]PauseSpan{span(10, -1)}, 60},
		"one that ends before it began": {[]PauseSpan{span(30, 10)}, 60},
	} {
		if got := Deadline(noon, time.Hour, c.pauses); !got.Equal(at(c.want)) {
			t.Errorf("%s: %v, want %v", name, got, at(c.want))
		}
	}
}

func TestAJobIsOverdueIfItsDeadlineIsOver(t *testing.T) {
	ok := func(minute int) Entry { return Entry{Run: "a", End: EndOk, Ended: at(minute)} }
	const hour = time.Hour
	failed := Entry{Run: "b", End: EndFailed, Ended: at(50)}
	pause := &PauseMark{Since: at(50)}
	for name, c := range map[string]struct {
		job     Job
		due     int // minutes after noon; < 0: not known
		overdue bool
		since   int // when it became overdue; < 0: it has not
	}{
		"nothing is expected":          {Job{LastSuccess: ok(0)}, -1, false, -1},
		"it has never succeeded":       {Job{MaxAge: hour, MaxAgeSince: at(5)}, 65, true, 65},
		"the success came after":       {Job{MaxAge: hour, MaxAgeSince: at(5), LastSuccess: ok(20)}, 80, true, 80},
		"it was asked for after":       {Job{MaxAge: hour, MaxAgeSince: at(50), LastSuccess: ok(20)}, 110, false, -1},
		"to the very instant":          {Job{MaxAge: hour, MaxAgeSince: at(40)}, 100, false, -1},
		"the last end was the success": {Job{MaxAge: hour, LastSuccess: ok(5), LastEnd: ok(50)}, 110, false, -1},
		"the last end was none":        {Job{MaxAge: hour, LastSuccess: ok(5), LastEnd: failed}, 65, true, 65},
		"since when is not known":      {Job{MaxAge: hour}, -1, false, -1},
		"it was paused": {Job{MaxAge: hour, LastSuccess: ok(0), Pauses: []PauseSpan{span(10, 50)}}, 100,
			false, -1},
		"it is paused": {Job{MaxAge: hour, LastSuccess: ok(0), State: StatePaused, Pause: pause}, -1,
			false, -1},
		"it is paused after its run": {
			Job{MaxAge: hour, LastSuccess: ok(0), State: StateRunning, Pause: pause}, -1, false, -1},
		"it was overdue, and then paused": {
			Job{MaxAge: 20 * time.Minute, LastSuccess: ok(0), State: StatePaused, Pause: pause}, -1, false, 20},
		"the begin of the pause is unknown": {
			Job{MaxAge: 20 * time.Minute, LastSuccess: ok(0), State: StatePaused}, -1, false, -1},
	} {
		c.job.Now = at(100)
		due, known := c.job.Due()
		if known != (c.due >= 0) || known && !due.Equal(at(c.due)) {
			t.Errorf("%s: due %v, %v", name, due, known)
		}
		if got := c.job.Overdue(); got != c.overdue {
			t.Errorf("%s: overdue %v", name, got)
		}
		since, known := c.job.OverdueSince()
		if known != (c.since >= 0) || known && !since.Equal(at(c.since)) {
			t.Errorf("%s: overdue since %v, %v", name, since, known)
		}
	}
}

// TestTheDeadlineIsThatOfAClockThatStandsStillInPauses counts minutes, one by one, in which the job is not paused.
func TestTheDeadlineIsThatOfAClockThatStandsStillInPauses(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 29))
		age := 1 + r.IntN(200)
		var pauses []PauseSpan
		for range r.IntN(6) {
			from := r.IntN(400) - 50
			pauses = append(pauses, span(from, from+r.IntN(100)))
		}
		paused := func(minute int) bool {
			for _, p := range pauses {
				if !at(minute).Before(p.Since) && at(minute).Before(p.Until) {
					return true
				}
			}
			return false
		}
		unpaused, minute := 0, 0
		for ; paused(minute) || unpaused < age; minute++ {
			if !paused(minute) {
				unpaused++
			}
		}
		if got := Deadline(noon, time.Duration(age)*time.Minute, pauses); !got.Equal(at(minute)) {
			t.Fatalf("seed %d: %v, want %v, of %d minutes and %v", seed, got, at(minute), age, pauses)
		}
	}
}
