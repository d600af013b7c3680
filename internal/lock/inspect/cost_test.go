package inspect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// many writes n jobs with all that a job can have, and returns their names.
func many(t *testing.T, srv *redistest.Server, n int) (names []string) {
	t.Helper()
	fill(t, srv, "model")
	const copies = `
		for i = 1, tonumber(ARGV[1]) do
			local name = string.format('job-%04d', i)
			for _, key in ipairs({'', ':fence', ':queue', ':waiters', ':job', ':runs', ':bad'}) do
				local value = redis.call('DUMP', 'redlockrun:{model}' .. key)
				redis.call('RESTORE', 'redlockrun:{' .. name .. '}' .. key, 600000, value)
			end
			for s = 1, 16 do
				local slot = redis.call('HGET', 'redlockrun:{model}:slots', 'new')
				redis.call('HSET', 'redlockrun:{' .. name .. '}:slots', '5m 2026-03-01T12:' .. s .. 'Z', slot)
			end
			redis.call('ZADD', 'redlockrun:jobs', i, name)
		end`
	do(t, srv, "EVAL", copies, 0, n)
	for i := range n {
		names = append(names, fmt.Sprintf("job-%04d", i+1))
	}
	return names
}

func TestAThousandJobsAreReadInFewRoundTrips(t *testing.T) {
	srv := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, srv)
	s := inspecting(t, p.URL())
	many(t, srv, 1000)
	do(t, srv, "CONFIG", "RESETSTAT")
	before := p.RoundTrips()
	const looks = 5
	for range looks {
		names, err := s.Names(t.Context(), false)
		locktest.Must(t, err)
		jobs, err := s.Jobs(t.Context(), names)
		locktest.Must(t, err)
		if len(jobs) != 1001 || jobs[7].LastSuccess.Run != runB || jobs[7].Waiting != 2 || len(jobs[7].Slots) != 1 ||
			jobs[7].Unread != nil {
			t.Fatalf("%d jobs, %+v", len(jobs), jobs[7])
		}
	}
	trips := (p.RoundTrips() - before) / looks
	step := average(t, srv, "eval")
	t.Logf("1,001 jobs in %d round trips, of which each step took %v on average", trips, step)
	if trips > 30 || average(t, srv, "scan") > 0 {
		t.Errorf("%d round trips, a step in %v", trips, step)
	}
}

// average is how long a command took in the server.
func average(t *testing.T, srv *redistest.Server, command string) time.Duration {
	t.Helper()
	_, stats, _ := strings.Cut(locktest.Do(t, srv, "INFO", "commandstats").(string), "cmdstat_"+command+":calls=")
	var calls, us int64
	fmt.Sscanf(stats, "%d,usec=%d", &calls, &us)
	return time.Duration(us) * time.Microsecond / time.Duration(max(calls, 1))
}
