package quorum

import (
	"slices"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

// exp is what a master says of a job whose success may become age old, as the run of a fence has said.
func exp(age time.Duration, fence int64, since int) lock.Job {
	j := free("")
	j.MaxAge, j.MaxAgeFence = age, fence
	if since > 0 {
		j.MaxAgeSince = now.Add(-time.Duration(since) * time.Hour)
	}
	return j
}

func jobsOf(jobs ...lock.Job) []lock.Job { return jobs }

func TestTheMaxAgeOfAQuorumIsThatOfTheHighestFence(t *testing.T) {
	const day, hour = 24 * time.Hour, time.Hour
	none := free("")
	for name, c := range map[string]struct {
		seen  []lock.Job
		age   time.Duration
		since int // hours ago
	}{
		"nobody has said any": {jobsOf(none, none, none), 0, 0},
		"all say the same":    {jobsOf(exp(day, 7, 50), exp(day, 7, 50), exp(day, 7, 50)), day, 50},
		"one was away when it was changed": {jobsOf(exp(day, 7, 50), exp(hour, 9, 50), exp(hour, 9, 50)), hour,
			50},
		"one alone has heard the change":   {jobsOf(exp(day, 7, 50), exp(hour, 9, 50), none), hour, 50},
		"one was away when it was removed": {jobsOf(exp(day, 7, 50), exp(0, 9, 50), exp(0, 9, 50)), 0, 0},
		"and when it came again, since later": {jobsOf(exp(day, 11, 50), exp(day, 11, 20), exp(day, 11, 20)), day,
			20},
		"one was away at first": {jobsOf(exp(day, 11, 20), exp(day, 11, 50), exp(day, 11, 50)), day,
			50},
		"one grant that no run has confirmed":   {jobsOf(exp(day, 0, 50), none, none), 0, 0},
		"a run that a majority has granted":     {jobsOf(exp(day, 0, 50), none, exp(day, 0, 50)), day, 50},
		"one grant beside what was said before": {jobsOf(exp(hour, 0, 1), exp(day, 7, 50), exp(day, 7, 50)), day, 50},
		"two have answered":                     {jobsOf(exp(day, 7, 50), exp(day, 7, 50)), day, 50},
		"nobody knows since when":               {jobsOf(exp(day, 7, 0), exp(day, 7, 0)), day, 0},
	} {
		for range 3 { // the order of the masters does not count
			j := merged(3, sights(c.seen...))
			var since int
			if !j.MaxAgeSince.IsZero() {
				since = int(now.Sub(j.MaxAgeSince) / time.Hour)
			}
			if j.MaxAge != c.age || since != c.since {
				t.Errorf("%s: %v since %d h ago, want %v, %d", name, j.MaxAge, since, c.age, c.since)
			}
			c.seen = append(c.seen[1:], c.seen[0])
		}
	}
}

func TestAPauseOfAQuorumCountsIfAMajorityHadIt(t *testing.T) {
	at := func(minute int) time.Time { return now.Add(time.Duration(minute) * time.Minute) }
	one := lock.PauseSpan{ID: runA, Since: at(-50), Until: at(-40)}
	unended := lock.PauseSpan{ID: runA, Since: at(-50)}
	later := lock.PauseSpan{ID: runA, Since: at(-50), Until: at(60)}
	two := lock.PauseSpan{ID: runB, Since: at(-30), Until: at(-20)}
	had := func(pauses ...lock.PauseSpan) lock.Job {
		j := free("")
		j.Pauses = pauses
		return j
	}
	for name, c := range map[string]struct{ seen, want []lock.PauseSpan }{
		"all":                              {nil, nil},
		"one alone":                        {[]lock.PauseSpan{one, {}, {}}, nil},
		"a majority":                       {[]lock.PauseSpan{one, {}, one}, []lock.PauseSpan{one}},
		"one has not heard of the end":     {[]lock.PauseSpan{later, one, one}, []lock.PauseSpan{one}},
		"of one for ever neither":          {[]lock.PauseSpan{unended, one, {}}, []lock.PauseSpan{one}},
		"nobody knows an end":              {[]lock.PauseSpan{unended, unended, {}}, []lock.PauseSpan{unended}},
		"two that are not those of others": {[]lock.PauseSpan{one, two, {}}, nil},
	} {
		var jobs []lock.Job
		for _, p := range c.seen {
			if jobs = append(jobs, had(p)); p.ID == "" {
				jobs[len(jobs)-1] = had()
			}
		}
		if jobs == nil {
			jobs = []lock.Job{had(), had(), had()}
		}
		if got := merged(3, sights(jobs...)).Pauses; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := merged(3, sights(had(two), had(one, two), had(one))).Pauses; !slices.Equal(got,
		[]lock.PauseSpan{one, two}) {
		t.Errorf("in their order: %v", got)
	}
}
