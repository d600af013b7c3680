package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
)

func TestAllThatIsKnownOfAJobIsRead(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	fill(t, srv, "job")
	j := job(t, s, "job")
	unread(t, j)
	if j.State != lock.StateRunning || j.Holder.Run != runA || j.Holder.Host != "web-3" ||
		j.Holder.TTL != time.Minute || j.Fence == 0 {
		t.Errorf("%s, held by %+v with %d", j.State, j.Holder, j.Fence)
	}
	if held := j.Now.Sub(j.At); held < 5*time.Second || held > 5*time.Second+locktest.Patience || j.Left <= 0 ||
		j.Left > 55*time.Second {
		t.Errorf("held for %v, for another %v", held, j.Left)
	}
	if j.Waiting != 2 || len(j.Waiters) != 2 || j.Waiters[0].Slot != "5m 2026-03-01T12:05Z" ||
		j.Waiters[0].Host != "web-3" ||
		j.Waiters[1].Run != runC || j.Waiters[1].PID != 4121 || j.Waiters[1].Since.IsZero() {
		t.Errorf("%d wait: %+v", j.Waiting, j.Waiters)
	}
	if len(j.Slots) != 2 || j.Slots[0].Name != "new" || j.Slots[0].Begun.Run != runA || len(j.Slots[0].Failures) != 1 ||
		!j.Slots[1].Closed {
		t.Errorf("slots %+v", j.Slots)
	}
	if j.Open.Run != runA || j.LastEnd.End != lock.EndFailed || j.LastSuccess.Run != runB ||
		j.Mean != 125*time.Second ||
		j.Counts[lock.EndOk] != 41 {
		t.Errorf("ledger %+v, %+v, %+v, %v, %v", j.Open, j.LastEnd, j.LastSuccess, j.Mean, j.Counts)
	}
	if len(j.Runs) != 2 || j.Runs[0].Run != runC || j.Runs[0].Status != 3 {
		t.Errorf("runs %+v", j.Runs)
	}
}

func TestAnOverviewHasTheLatestSlotAndNeitherWaitersNorRuns(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	fill(t, srv, "b")
	fill(t, srv, "a")
	jobs, err := s.Jobs(t.Context(), []string{"b", "none", "a"})
	locktest.Must(t, err)
	if len(jobs) != 3 || jobs[0].Name != "b" || jobs[1].State != lock.StateIdle || jobs[1].Waiting != 0 ||
		jobs[2].Name != "a" {
		t.Fatalf("%+v", jobs)
	}
	for _, j := range []lock.Job{jobs[0], jobs[2]} {
		unread(t, j)
		if j.State != lock.StateRunning || j.Waiting != 2 || j.Waiters != nil || j.Runs != nil || len(j.Slots) != 1 ||
			j.Slots[0].Name != "new" {
			t.Errorf("%+v", j)
		}
	}
}

func TestJobsAreReadWithTheirRunsInStepsOfAFew(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	names := make([]string, 3*10+1)
	for i := range names {
		names[i] = fmt.Sprintf("j%02d", i)
		fill(t, srv, names[i])
	}
	whole := job(t, s, names[0])
	ids := func(entries []lock.Entry) (ids []string) {
		for _, e := range entries {
			ids = append(ids, e.Run)
		}
		return ids
	}
	jobs, err := s.JobsWithRuns(t.Context(), append(names, "none"))
	locktest.Must(t, err)
	if len(jobs) != len(names)+1 || jobs[len(names)].State != lock.StateIdle || jobs[len(names)].Runs != nil {
		t.Fatalf("%d jobs; of nothing: %+v", len(jobs), jobs[len(jobs)-1])
	}
	for i, j := range jobs[:len(names)] {
		unread(t, j)
		if j.Name != names[i] || len(j.Runs) == 0 || !slices.Equal(ids(j.Runs), ids(whole.Runs)) ||
			len(j.Waiters) != len(whole.Waiters) {
			t.Errorf("%s: runs %v, waiters %v", j.Name, ids(j.Runs), j.Waiters)
		}
	}
}

func TestTheStateOfAJobFollowsItsKeys(t *testing.T) {
	t.Parallel()
	pause := fmt.Sprintf(`{"pause":"%s","v":1,"by":"alice@desk","why":"deploy","since":1795344187661,"until":0}`, runA)
	rest := strings.Replace(record(runA, 0), `"v"`, `"ended":1795344187661,"v"`, 1)
	for _, c := range []struct {
		name  string
		write [][]any
		want  lock.State
	}{
		{"nothing", nil, lock.StateIdle},
		{"a ledger without a run", [][]any{{"HSET", ":job", "open", "", "last",
			wire.EntryText(entry(runA, 0, lock.EndOk, 0))}}, lock.StateIdle},
		{"a run and its lock", [][]any{{"SET", "", record(runA, 0), "PX", 60000},
			{"HSET", ":job", "open", wire.EntryText(opened(runA))}}, lock.StateRunning},
		{"a run without history", [][]any{{"SET", "", record(runA, 0), "PX", 60000}}, lock.StateRunning},
		{"a run without its lock", [][]any{{"HSET", ":job", "open", wire.EntryText(opened(runA))}}, lock.StateVanished},
		{"a hand-over", [][]any{{"SET", "", record(runB, 0), "PX", 2000},
			{"HSET", ":job", "open", wire.EntryText(opened(runA))}},
			lock.StateStarting},
		{"a hand-over that could not be told", [][]any{{"SET", "", record(runB, 0), "PX", 6000}}, lock.StateStarting},
		{"the last second of a lease", [][]any{{"SET", "", record(runA, time.Minute), "PX", 900}}, lock.StateSilent},
		{"two renewals missed", [][]any{{"SET", "", record(runA, time.Hour), "PX", 30000}}, lock.StateSilent},
		{"a renewal that is due", [][]any{{"SET", "", record(runA, time.Hour), "PX", 39000}}, lock.StateRunning},
		{"the rest of a min-hold", [][]any{{"SET", "", rest, "PX", 60000}}, lock.StateEnded},
		{"a pause that has the lock", [][]any{{"SET", "", pause}}, lock.StatePaused},
		{"a pause of an idle job", [][]any{{"SET", ":paused", pause}}, lock.StatePaused},
		{"a pause of a running job", [][]any{{"SET", ":paused", pause}, {"SET", "", record(runA, 0), "PX", 60000}},
			lock.StateRunning},
		{"a lock for ever", [][]any{{"SET", "", record(runA, 0)}}, lock.StateStuck},
		{"somebody's value", [][]any{{"SET", "", "somebody", "PX", 60000}}, lock.StateForeign},
		{"an empty value", [][]any{{"SET", "", "", "PX", 60000}}, lock.StateForeign},
		{"somebody's list", [][]any{{"RPUSH", "", "somebody"}}, lock.StateForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv, s := served(t)
			for _, words := range c.write {
				do(t, srv, slices.Concat([]any{words[0], keys("job").Lock + words[1].(string)}, words[2:])...)
			}
			if j := job(t, s, "job"); j.State != c.want {
				t.Errorf("%s, not %s: %+v", j.State, c.want, j)
			}
		})
	}
}

// Whatever stands in the place of one key hides no other.
func TestAKeyOfAnotherTypeHidesNoOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, what string }{
		{"", "the lock: "}, {":queue", "the queue: "}, {":waiters", "the waiters: "}, {":slots", "the slots: "},
		{":paused", "the pause: "},
		{":job", "the ledger: "}, {":runs", "the runs: "},
	} {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			srv, s := served(t)
			fill(t, srv, "job")
			do(t, srv, "DEL", keys("job").Lock+c.key)
			do(t, srv, "XADD", keys("job").Lock+c.key, "*", "a", "b")
			j := job(t, s, "job")
			unread(t, j, c.what+"the key is of another type")
			if c.key != "" && j.State != lock.StateRunning || c.key != ":queue" && j.Waiting != 2 ||
				c.key != ":slots" && len(j.Slots) != 2 ||
				c.key != ":job" && j.LastSuccess.Run != runB || c.key != ":runs" && len(j.Runs) != 2 {
				t.Errorf("%+v", j)
			}
		})
	}
}

func TestWhatIsWrittenByAStrangersHandIsNamed(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	fill(t, srv, "job")
	k := keys("job")
	big := strings.Repeat("x", 1<<20)
	do(t, srv, "HSET", k.Job, "open", "garbage", "last", big, "mean", "-", "count:ok", "many")
	do(t, srv, "LPUSH", k.Runs, big, "garbage")
	do(t, srv, "SET", k.Paused, "garbage")
	do(t, srv, "HSET", k.Slots, "new", big)
	do(t, srv, "HSET", k.Waiters, runB, big)
	j := job(t, s, "job")
	unread(t, j, "the pause: ", "the ledger's open: ", "the ledger's last: ", "the ledger's mean: ",
		"the ledger's count:ok: ",
		"the runs: redlockrun did not write 2 of them")
	if j.State != lock.StateRunning || len(j.Runs) != 2 || j.Counts[lock.EndFailed] != 2 || j.LastSuccess.Run != runB ||
		len(j.Waiters) != 2 {
		t.Errorf("%+v", j)
	}
}

func TestOfWhatIsTooLongNoMoreIsReadThanABound(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	k := keys("job")
	const lengthen = `
		for i = 1, 20000 do
			redis.call('RPUSH', KEYS[1], ARGV[1])
			redis.call('HSET', KEYS[2], i, 'x')
			redis.call('ZADD', KEYS[3], i, i)
		end`
	do(t, srv, "EVAL", lengthen, 3, k.Runs, k.Slots, k.Queue, wire.EntryText(entry(runA, 0, lock.EndOk, 0)))
	j := job(t, s, "job")
	unread(t, j, "the slots: there are 20000")
	if j.Waiting != 20000 || len(j.Waiters) > 100 || len(j.Runs) != 1 || len(j.Slots) > 0 {
		t.Errorf("%d wait, %d of them read; %d runs, %d slots", j.Waiting, len(j.Waiters), len(j.Runs), len(j.Slots))
	}
	if runs, err := s.Runs(t.Context(), "job", true); len(runs) != 1 || err != nil {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestOneEntryOfEachRunIsTheLatest(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	k := keys("job")
	vanished, late, old := entry(runA, time.Hour, lock.EndVanished, -1), entry(runA, 0, lock.EndOk, 0),
		entry(runB, 9*time.Hour, lock.EndFailed, 1)
	do(t, srv, "RPUSH", k.Runs, wire.EntryText(late), wire.EntryText(entry(runC, time.Minute, lock.EndOk, 0)),
		wire.EntryText(vanished))
	do(t, srv, "RPUSH", k.Bad, wire.EntryText(vanished), wire.EntryText(old))
	runs, err := s.Runs(t.Context(), "job", false)
	if locktest.Must(t, err); len(runs) != 2 || runs[0].End != lock.EndOk || runs[1].Run != runC {
		t.Errorf("%+v", runs)
	}
	runs, err = s.Runs(t.Context(), "job", true)
	if locktest.Must(t, err); len(runs) != 3 || runs[0].End != lock.EndOk || runs[2].Run != runB {
		t.Errorf("%+v", runs)
	}
}

func TestAllOfALongHistoryIsRead(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	words := []any{"RPUSH", keys("job").Runs}
	for i := range 1234 {
		words = append(words, wire.EntryText(entry(lock.NewRunID(), time.Duration(i)*time.Minute, lock.EndOk, 0)))
	}
	do(t, srv, words...)
	if runs, err := s.Runs(t.Context(), "job", false); len(runs) != 1234 || err != nil {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestNamesComeFromTheListAndOnRequestFromTheKeyspace(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	odd := "50%{a}{b}%7B:x"
	do(t, srv, "ZADD", keys("").Jobs, 1, "listed", 2, odd, 3, strings.Repeat("x", 600))
	do(t, srv, "SET", keys("unlisted").Fence, 1)
	do(t, srv, "SET", keys(odd).Lock, 1)
	do(t, srv, "SET", "redlockrun:{x}other", 1)
	do(t, srv, "SET", "other:{y}", 1)
	do(t, srv, "SET", "redlockrun:{%7b}", 1)
	for scan, want := range map[bool][]string{false: {odd, "listed"}, true: {odd, "listed", "unlisted"}} {
		names, err := s.Names(t.Context(), scan)
		if locktest.Must(t, err); !slices.Equal(names, want) {
			t.Errorf("scan %v: %q", scan, names)
		}
	}
	if stats := locktest.Do(t, srv, "INFO", "commandstats").(string); strings.Count(stats,
		"cmdstat_scan:calls=1,") != 1 {
		t.Errorf("scanned other than once: %s", stats)
	}
}

func TestALedgersListOfAnotherTypeIsSaid(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	do(t, srv, "SET", keys("").Jobs, "x")
	do(t, srv, "SET", keys("job").Runs, "x")
	if _, err := s.Names(t.Context(), false); err == nil || !strings.Contains(err.Error(), `"redlockrun:jobs"`) {
		t.Errorf("%v", err)
	}
	if _, err := s.Runs(t.Context(), "job", false); err == nil ||
		!strings.Contains(err.Error(), `"redlockrun:{job}:runs"`) {
		t.Errorf("%v", err)
	}
}

func TestNothingIsWrittenByReading(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	fill(t, srv, "job")
	before := locktest.Do(t, srv, "INFO", "persistence").(string)
	job(t, s, "job")
	_, err := s.Names(t.Context(), true)
	locktest.Must(t, err)
	_, err = s.Runs(t.Context(), "job", true)
	locktest.Must(t, err)
	if after := locktest.Do(t, srv, "INFO", "persistence").(string); changes(before) != changes(after) {
		t.Errorf("%s, then %s", changes(before), changes(after))
	}
}

func changes(info string) string {
	_, after, _ := strings.Cut(info, "rdb_changes_since_last_save:")
	n, _, _ := strings.Cut(after, "\r")
	return n
}

func TestAServerThatDoesNotAnswerIsAskedForSoLongAndNoLonger(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	s.Timeout = 300 * time.Millisecond
	locktest.Must(t, srv.Signal(syscall.SIGSTOP))
	for what, ask := range map[string]func(context.Context) error{
		"names": func(ctx context.Context) error { _, err := s.Names(ctx, true); return err },
		"jobs":  func(ctx context.Context) error { _, err := s.Jobs(ctx, []string{"a", "b"}); return err },
		"runs":  func(ctx context.Context) error { _, err := s.Runs(ctx, "a", true); return err },
	} {
		began := time.Now()
		locktest.MustBeUnavailable(t, ask(t.Context()))
		if took := time.Since(began); took < 100*time.Millisecond || took > locktest.Patience/3 {
			t.Errorf("%s: given up after %v", what, took)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		wanted := errors.New("q was pressed")
		cancel(wanted)
		if err := ask(ctx); err != wanted {
			t.Errorf("%s: %v", what, err)
		}
	}
	locktest.Must(t, srv.Signal(syscall.SIGCONT))
	job(t, s, "a")
}
