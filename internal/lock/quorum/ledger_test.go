package quorum

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// entered asks for the lock "job" and has its run entered.
func entered() lock.Request {
	req := locktest.RequestFor("job")
	req.History = 50
	return req
}

// entries are those of one list of a server, the newest first.
func entries(t *testing.T, s *redistest.Server, list string) (all []lock.Entry) {
	t.Helper()
	for _, text := range locktest.Do(t, s, "LRANGE", jobKey+":"+list, 0, -1).([]any) {
		e, ok := wire.ReadEntry(text.(string))
		if !ok {
			t.Errorf("%q is no entry", text)
		}
		all = append(all, e)
	}
	return all
}

// job is the hash of the ledger at a server.
func jobOf(t *testing.T, s *redistest.Server) map[string]string {
	t.Helper()
	fields := make(map[string]string)
	all := locktest.Do(t, s, "HGETALL", jobKey+":job").([]any)
	for i := 0; i < len(all); i += 2 {
		fields[all[i].(string)] = all[i+1].(string)
	}
	return fields
}

// mustHave fails unless each server comes to have these ends, the oldest first, and no others: what
// a majority has answered may still be on its way to the others.
func (all servers) mustHave(t *testing.T, ends ...string) {
	t.Helper()
	var wrong []string
	redistest.Until(locktest.Patience, func() bool { wrong = all.lack(t, ends); return len(wrong) == 0 })
	for _, text := range wrong {
		t.Error(text)
	}
}

// lack is what the servers have in place of these ends.
func (all servers) lack(t *testing.T, ends []string) (wrong []string) {
	t.Helper()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	counts := make(map[string]int)
	for _, end := range ends {
		_, how, _ := strings.Cut(end, " ")
		counts["count:"+how]++
	}
	for i, s := range all {
		var got []string
		for _, e := range entries(t, s, "runs") {
			got = append(got, e.Run+" "+string(e.End))
		}
		slices.Reverse(got)
		if !slices.Equal(got, ends) {
			say("server %d has %v, want %v", i, got, ends)
		}
		job := jobOf(t, s)
		for field, n := range counts {
			if job[field] != fmt.Sprint(n) {
				say("server %d: %s is %q, want %d", i, field, job[field], n)
			}
		}
		if job["open"] != "" {
			say("server %d has open %q", i, job["open"])
		}
	}
	return wrong
}

func end(req lock.Request, how lock.EndKind) string { return req.Holder.Run + " " + string(how) }

func TestEachMasterOfAQuorumHasTheLedger(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	first, second := entered(), entered()
	l := acquireWhole(t, store, first)
	for i, s := range all {
		open, ok := wire.ReadEntry(jobOf(t, s)["open"])
		if !ok || open.Run != first.Holder.Run || open.Fence == 0 || open.At.IsZero() || open.End != "" {
			t.Errorf("server %d: %+v", i, open)
		}
		if _, listed := locktest.Do(t, s, "ZSCORE", "redlockrun:jobs", "job").(string); !listed {
			t.Errorf("server %d does not list the job", i)
		}
	}
	fail := endedBy(lock.EndFailed, 3)
	fail.Result.Attempts = 2
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), fail))
	runsWhole(t, store, second, endedBy(lock.EndOk, 0))
	all.mustHave(t, end(first, lock.EndFailed), end(second, lock.EndOk))
	for _, s := range all {
		bad := entries(t, s, "bad")
		if len(bad) != 1 || bad[0].Status != 3 || bad[0].Attempts != 2 || bad[0].Fence != l.Fence() ||
			bad[0].Host != "web-3" ||
			bad[0].Ended.Before(bad[0].At) || bad[0].At.Before(bad[0].Asked) {
			t.Errorf("%+v", bad)
		}
		job := jobOf(t, s)
		good, _ := wire.ReadEntry(job["good"])
		if good.Run != second.Holder.Run || job["last"] != job["good"] || !strings.HasPrefix(job["mean"], "1 ") {
			t.Errorf("%v", job)
		}
	}
}

func TestWithoutHistoryAndSlotNothingIsWritten(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	runs(t, store, locktest.RequestFor("job"), endedBy(lock.EndOk, 0))
	all.mustBeClean(t)
}

func TestTheNextWinnerEntersWhoHasVanished(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 5)
	first, second, third := entered(), entered(), entered()
	dies(t, all, acquireWhole(t, store, first))
	dies(t, all, acquireWhole(t, store, second))
	runsWhole(t, store, third, endedBy(lock.EndOk, 0))
	all.mustHave(t, end(first, lock.EndVanished), end(second, lock.EndVanished), end(third, lock.EndOk))
}

// A run that was overtaken and says so itself has not vanished.
func TestWhoReportsBeforeItsSuccessorEndsHasNotVanished(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	first, second := entered(), entered()
	overtaken := acquireWhole(t, store, first)
	all.free(t)
	l := acquireWhole(t, store, second)
	if err := overtaken.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndLost, 76)); !errors.Is(err,
		lock.ErrTaken) {
		t.Errorf("released: %v", err)
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndOk, 0)))
	all.mustHave(t, end(first, lock.EndLost), end(second, lock.EndOk))
}

func TestALateReportCountsNothingTwice(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	first, second := entered(), entered()
	overtaken := acquireWhole(t, store, first)
	all.free(t)
	locktest.Must(t, acquireWhole(t, store, second).Release(locktest.Limited(t, locktest.Patience),
		endedBy(lock.EndOk, 0)))
	for range 2 {
		if err := overtaken.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndLost, 76)); !errors.Is(err,
			lock.ErrLost) {
			t.Errorf("released: %v", err)
		}
	}
	for i, s := range all {
		got := entries(t, s, "runs")
		job := jobOf(t, s)
		if len(got) != 3 || got[0].End != lock.EndLost || got[2].End != lock.EndVanished || job["count:lost"] != "" ||
			job["count:vanished"] != "1" {
			t.Errorf("server %d has %v, %v", i, got, job)
		}
	}
}

func TestARunOfAQuorumThatRunsNothingLeavesNoEntry(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	runs(t, store, entered(), lock.ReleaseRequest{})
	all.mustHave(t)
}

// What a round has taken that was lost is as it was before, wherever its undo arrives.
func TestTheUndoOfALostRoundLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for _, slot := range []string{"", tick} {
		all, store := startDurable(t, 3)
		ask := func() lock.Request {
			req := forSlot(slot)
			req.Slot.Name = slot
			return req
		}
		running := ask()
		l := acquireWhole(t, store, running)
		locktest.Do(t, all[0], "DEL", jobKey)
		before := jobOf(t, all[0])
		if before["open"] == "" || before["unconfirmed"] != "" {
			t.Errorf("%v", before)
		}
		other := ask()
		if _, err := store.Acquire(t.Context(), other); !errors.As(err, new(*lock.HeldError)) {
			t.Fatalf("got %v", err)
		}
		after := jobOf(t, all[0])
		if !maps.Equal(before, after) {
			t.Errorf("%v has become %v", before, after)
		}
		locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndFailed, 1)))
		all.mustHave(t, end(running, lock.EndFailed))
		if slot != "" {
			runs(t, store, ask(), endedBy(lock.EndOk, 0)) // one try has failed, and not two
		}
	}
}

func TestWhatALostRoundLeavesHasNotVanished(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 5)
	for _, s := range all[:2] {
		leaves(t, s, entered())
	}
	leaves(t, all[2], entered())
	req := entered()
	runsWhole(t, store, req, endedBy(lock.EndOk, 0))
	all.mustHave(t, end(req, lock.EndOk))
}

// Its lock is asked for by the same run again and again, as after answers that were lost.
func TestRoundsOfOneRunAreOneEntry(t *testing.T) {
	t.Parallel()
	m, srv := oneMaster(t, forSlot(tick))
	ctx := locktest.Limited(t, locktest.Patience)
	for round := range uint32(3) {
		v := mustGrant(t, m, term{round: round + 1})
		if len(v.unconfirmed) > 0 || len(v.slot.Failures) > 0 {
			t.Errorf("round %d: %+v", round, v)
		}
	}
	if _, err := m.repair(ctx, term{round: 3, repair: 1}, 1, time.Second); err != nil {
		t.Error(err)
	}
	if _, err := m.release(ctx, term{round: 2}.last(), releaseRequest{}); err != nil { // arrives late
		t.Error(err)
	}
	end := releaseRequest{ReleaseRequest: endedBy(lock.EndFailed, 1), leased: true}
	for range 3 {
		if _, err := m.release(ctx, term{round: 3}.last(), end); err != nil {
			t.Error(err)
		}
	}
	locktest.Must(t, m.giveUp(ctx, term{round: 3}.last(), end))
	job := jobOf(t, srv)
	if got := entries(t, srv, "runs"); len(got) != 1 || job["count:failed"] != "1" || job["open"] != "" {
		t.Errorf("%v, %v", got, job)
	}
	value := locktest.Do(t, srv, "HGET", jobKey+":slots", tick).(string)
	if s := wire.ReadSlot(value); len(s.Failures) != 1 || s.Begun.Run != "" {
		t.Errorf("%q", value)
	}
}

func TestACoolDownIsNoRun(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	first, second := entered(), entered()
	kept := endedBy(lock.EndOk, 0)
	kept.Keep = 50 * time.Millisecond
	locktest.Must(t, acquireWhole(t, store, first).Release(locktest.Limited(t, locktest.Patience), kept))
	second.Wait.Limit = lock.Forever
	runsWhole(t, store, second, endedBy(lock.EndOk, 0))
	all.mustHave(t, end(first, lock.EndOk), end(second, lock.EndOk))
}

// Texts that one step alone has in it.
const (
	inGrant   = "uptime_in_seconds"
	inRelease = `"ended":%`
	inRepair  = "take(ARGV[10], ARGV[11], age"
)

func TestLostRepliesCountOnce(t *testing.T) {
	t.Parallel()
	all, proxies, store := startBehindProxies(t, 3)
	first, second := forSlot(tick), forSlot(tick)
	for _, p := range proxies {
		p.LoseReply(inGrant)
	}
	l := acquireWhole(t, store, first)
	for _, p := range proxies {
		p.LoseReply(inRelease)
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndFailed, 1)))
	locktest.Must(t, acquireWhole(t, store, second).Release(locktest.Limited(t, locktest.Patience),
		endedBy(lock.EndFailed, 1)))
	all.mustHave(t, end(first, lock.EndFailed), end(second, lock.EndFailed))
	mustBeTried(t, store, forSlot(tick), lock.EndFailed, lock.EndFailed)
}

// A repair that is under way when the run ends opens it nowhere again, wherever it arrives between two tries of the
// release.
func TestARepairThatIsLateOpensNoRunAgain(t *testing.T) {
	t.Parallel()
	all, proxies, store := startBehindProxies(t, 3)
	req := forSlot(tick)
	l := acquireWhole(t, store, req)
	locktest.Do(t, all[2], "DEL", jobKey)
	before, arrive := proxies[2].Count(inRepair), proxies[2].HoldNext(inRepair)
	repairing := func() bool {
		locktest.Renew(t, l)
		return proxies[2].Await(inRepair, before+1)
	}
	for n := 0; !repairing(); n++ { // one that has not been sent in time is sent with the next renewal
		if n == 2 {
			t.Fatal("the master that lost its key is not repaired")
		}
	}
	proxies[2].LoseReply(inRelease)
	released := make(chan error, 1)
	go func() { released <- l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndFailed, 1)) }()
	locktest.Until(t, "that master's entry", func() bool { return len(entries(t, all[2], "runs")) > 0 })
	arrive()
	locktest.Must(t, <-released)
	for i, s := range all {
		locktest.Until(t, fmt.Sprint("the count of server ", i),
			func() bool { return jobOf(t, s)["count:failed"] != "" })
		if job := jobOf(t, s); job["count:failed"] != "1" {
			t.Errorf("server %d: %v, %v", i, entries(t, s, "runs"), job)
		}
	}
	all.mustHave(t, end(req, lock.EndFailed))
}

// startBehindProxies is a quorum of durable servers, each behind a proxy.
func startBehindProxies(t *testing.T, n int) (all servers, proxies []*redistest.Proxy, store lock.Store) {
	t.Helper()
	var urls []string
	for range n {
		s := redistest.Start(t, redistest.Options{Persist: true})
		p := redistest.NewProxy(t, s)
		all, proxies, urls = append(all, s), append(proxies, p), append(urls, p.URL())
	}
	return all, proxies, openAll(t, lock.Servers{URLs: urls, Prefix: lock.DefaultPrefix, Durable: true})
}
