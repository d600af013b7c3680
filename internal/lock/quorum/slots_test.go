package quorum

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

const (
	tick     = "5m 2026-03-01T12:05Z"
	nextTick = "5m 2026-03-01T12:10Z"
)

// forSlot asks for the lock "job" for a slot.
func forSlot(slot string) lock.Request {
	req := locktest.RequestFor("job")
	req.Slot, req.History = lock.Slot{Name: slot, Tries: 2}, 50
	return req
}

// endedBy is how a run ends, without a min-hold.
func endedBy(how lock.EndKind, status int) lock.ReleaseRequest {
	return lock.ReleaseRequest{Result: lock.RunResult{End: how, Status: status, Attempts: 1}}
}

// runs is a run from its first question to its end.
func runs(t *testing.T, s lock.Store, req lock.Request, end lock.ReleaseRequest) {
	t.Helper()
	locktest.Must(t, locktest.Acquire(t, s, req).Release(locktest.Limited(t, locktest.Patience), end))
}

// runsWhole is runs, of a lock that every server has.
func runsWhole(t *testing.T, s lock.Store, req lock.Request, end lock.ReleaseRequest) {
	t.Helper()
	locktest.Must(t, acquireWhole(t, s, req).Release(locktest.Limited(t, locktest.Patience), end))
}

// dies is the end of a run of which nothing is heard again.
func dies(t *testing.T, all servers, lease lock.Lease) {
	t.Helper()
	l := lease.(*quorumLease)
	l.stopWork()
	for _, m := range l.election.masters {
		m.close()
	}
	all.lapse(l)
}

// lapse ends a lease before its time, at the servers that are there.
func (all servers) lapse(l *quorumLease) {
	begins := `{"run":"` + l.election.req.Holder.Run + `"`
	for _, s := range all {
		s.Do("EVAL", `local record = redis.call('GET', KEYS[1]) or ''
			if string.sub(record, 1, 35) == ARGV[1] then redis.call('DEL', KEYS[1]) end`, 1, jobKey, begins)
	}
}

// mustBeDone fails unless the work of the slot is done, by run.
func mustBeDone(t *testing.T, s lock.Store, req lock.Request, run string) {
	t.Helper()
	l, err := s.Acquire(t.Context(), req)
	var done *lock.SlotDoneError
	if !errors.As(err, &done) || done.By.Run != run || done.Slot != req.Slot.Name || done.By.Host != "web-3" ||
		done.By.Ended.IsZero() {
		t.Errorf("got %v, %+v", err, done)
	}
	if err == nil {
		l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
	}
}

// mustBeTried fails unless the tries of the slot are used up, by how they ended.
func mustBeTried(t *testing.T, s lock.Store, req lock.Request, how ...lock.EndKind) {
	t.Helper()
	l, err := s.Acquire(t.Context(), req)
	var tried *lock.TriesExhaustedError
	if !errors.As(err, &tried) {
		t.Fatalf("got %v", err)
	}
	var ends []lock.EndKind
	for _, f := range tried.Failures {
		ends = append(ends, f.End)
	}
	if slices.Sort(ends); !slices.Equal(ends, how) {
		t.Errorf("%v failed, want %v", ends, how)
	}
	if err == nil {
		l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
	}
}

// Faults that a minority can have and keep its data.
var absences = map[string]struct {
	begin, end func(t *testing.T, s *redistest.Server)
}{
	"killed": {
		func(t *testing.T, s *redistest.Server) { s.Kill() },
		func(t *testing.T, s *redistest.Server) { locktest.Must(t, s.Restart(true)) },
	},
	"frozen": {
		func(t *testing.T, s *redistest.Server) { locktest.Must(t, s.Signal(syscall.SIGSTOP)) },
		func(t *testing.T, s *redistest.Server) { locktest.Must(t, s.Signal(syscall.SIGCONT)) },
	},
}

func TestEachTickIsDoneOnceByAQuorum(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		for name, absence := range absences {
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				var all servers
				for range n {
					all = append(all, redistest.Start(t, redistest.Options{Persist: true}))
				}
				store := openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true})
				first, second := forSlot(tick), forSlot(nextTick)
				runs(t, store, first, endedBy(lock.EndOk, 0))
				mustBeDone(t, store, forSlot(tick), first.Holder.Run)
				few := all[:n-lock.Majority(n)]
				for _, s := range few {
					absence.begin(t, s)
				}
				mustBeDone(t, store, forSlot(tick), first.Holder.Run)
				runs(t, store, second, endedBy(lock.EndOk, 0))
				mustBeDone(t, store, forSlot(nextTick), second.Holder.Run)
				for _, s := range few {
					absence.end(t, s)
				}
				for _, s := range all[n-len(few):] {
					absence.begin(t, s) // of those that know, one is left
				}
				mustBeDone(t, store, forSlot(nextTick), second.Holder.Run)
				for _, s := range all[n-len(few):] {
					absence.end(t, s)
				}
			})
		}
	}
}

func TestADoneSlotIsDoneWhileTheLockIsBusy(t *testing.T) {
	t.Parallel()
	_, store := startDurable(t, 3)
	first := forSlot(tick)
	locktest.Must(t, locktest.Acquire(t, store, first).Release(locktest.Limited(t, locktest.Patience),
		lock.ReleaseRequest{Keep: 100 * time.Millisecond, Result: lock.RunResult{End: lock.EndOk}}))
	mustBeDone(t, store, forSlot(tick), first.Holder.Run)
	next := forSlot(nextTick)
	next.Wait.Limit = lock.Forever
	l := locktest.Acquire(t, store, next)
	mustBeDone(t, store, forSlot(tick), first.Holder.Run)
	locktest.MustBeBusy(t, store, "job")
	waiting, told := make(chan struct{}, 1000), make(chan error)
	late := forSlot(nextTick)
	late.Wait.Limit, late.OnBusy = lock.Forever, func(*lock.HeldError) { waiting <- struct{}{} }
	go func() {
		_, err := store.Acquire(t.Context(), late)
		told <- err
	}()
	<-waiting
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndOk, 0)))
	var done *lock.SlotDoneError
	if err := <-told; !errors.As(err, &done) || done.By.Run != next.Holder.Run {
		t.Errorf("the waiter is told %v", err)
	}
}

func TestTriesOfASlotAreUsedUpAtAQuorum(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 5)
	runs(t, store, forSlot(tick), endedBy(lock.EndFailed, 1))
	runs(t, store, forSlot(tick), endedBy("", 0)) // nothing was run
	runs(t, store, forSlot(tick), endedBy(lock.EndTimeout, 124))
	mustBeTried(t, store, forSlot(tick), lock.EndFailed, lock.EndTimeout)
	other := locktest.Acquire(t, store, forSlot(nextTick))
	mustBeTried(t, store, forSlot(tick), lock.EndFailed, lock.EndTimeout)
	locktest.Must(t, other.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndOk, 0)))
	more := forSlot(tick)
	more.Slot.Tries = 3
	runs(t, store, more, endedBy(lock.EndOk, 0))
	mustBeDone(t, store, forSlot(tick), more.Holder.Run)
	all.mustKeepOnly(t, "job", "jobs", "runs", "bad", "slots")
}

// mustKeepOnly fails if a server has another key than fences, tombstones and these.
func (all servers) mustKeepOnly(t *testing.T, names ...string) {
	t.Helper()
	for i, s := range all {
		for _, key := range keysLeft(t, s) {
			if name := key[strings.LastIndex(key, ":")+1:]; !slices.Contains(names, name) {
				t.Errorf("server %d has %s", i, key)
			}
		}
	}
}

func TestARunThatVanishesHasFailedInItsSlot(t *testing.T) {
	t.Parallel()
	for _, history := range []int{0, 50} {
		for down := range 3 {
			t.Run(fmt.Sprintf("%d down, history %d", down, history), func(t *testing.T) {
				all, store := startDurable(t, 5)
				for _, s := range all[:down] {
					s.Kill()
				}
				req := func() lock.Request {
					r := forSlot(tick)
					r.History = history
					return r
				}
				dies(t, all[down:], locktest.Acquire(t, store, req()))
				dies(t, all[down:], locktest.Acquire(t, store, req()))
				mustBeTried(t, store, req(), lock.EndVanished, lock.EndVanished)
				again := req()
				again.Slot.Tries = 3
				runs(t, store, again, endedBy(lock.EndOk, 0))
				mustBeDone(t, store, req(), again.Holder.Run)
				if history == 0 {
					all[down:].mustKeepOnly(t, "slots")
				}
			})
		}
	}
}

// leaves is what a round leaves at one master that was lost, and its undo too.
func leaves(t *testing.T, s *redistest.Server, req lock.Request) {
	t.Helper()
	store := openAll(t, lock.Servers{URLs: []string{s.URL()}, Prefix: lock.DefaultPrefix, Durable: true}).(*quorum)
	m := store.open(req)[0]
	if v, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 1}, time.Now().UnixMilli()); err != nil ||
		v.kind != granted {
		t.Fatal(v, err)
	}
	m.close()
	locktest.Do(t, s, "DEL", jobKey)
}

func TestWhatALostRoundLeavesIsNoTry(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 5)
	for range 3 {
		for _, s := range all[3:] {
			leaves(t, s, forSlot(tick))
		}
	}
	leaves(t, all[0], forSlot(tick))
	runs(t, store, forSlot(tick), endedBy(lock.EndFailed, 1))
	last := forSlot(tick)
	runs(t, store, last, endedBy(lock.EndOk, 0))
	for i, s := range all {
		if got := entries(t, s, "runs"); len(got) != 2 || got[0].Run != last.Holder.Run {
			t.Errorf("server %d has %v", i, got)
		}
	}
}

func TestAnOvertakenRunEndsItsOwnSlot(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	old, next := forSlot(tick), forSlot(nextTick)
	overtaken := locktest.Acquire(t, store, old)
	all.free(t)
	l := locktest.Acquire(t, store, next)
	late := endedBy(lock.EndOk, 0)
	late.Result.Lost = true
	if err := overtaken.Release(locktest.Limited(t, locktest.Patience), late); !errors.Is(err, lock.ErrLost) {
		t.Errorf("released: %v", err)
	}
	mustBeDone(t, store, forSlot(tick), old.Holder.Run)
	if _, err := store.Acquire(t.Context(), forSlot(nextTick)); !errors.As(err, new(*lock.HeldError)) {
		t.Errorf("the next slot: %v", err)
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndOk, 0)))
	mustBeDone(t, store, forSlot(nextTick), next.Holder.Run)
}

func TestAReleaseForASlotIsTriedUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	all, store := startDurable(t, 3)
	freeze := func(sig syscall.Signal) {
		for _, s := range all[:2] {
			locktest.Must(t, s.Signal(sig))
		}
	}
	first := forSlot(tick)
	l := locktest.Acquire(t, store, first)
	freeze(syscall.SIGSTOP)
	time.AfterFunc(lock.ReleaseLimit+time.Second, func() { freeze(syscall.SIGCONT) })
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndOk, 0)))
	mustBeDone(t, store, forSlot(tick), first.Holder.Run)

	l = locktest.Acquire(t, store, forSlot(nextTick))
	freeze(syscall.SIGSTOP)
	err := l.Release(locktest.Limited(t, time.Second), endedBy(lock.EndOk, 0))
	locktest.MustBeUnavailable(t, err)
	freeze(syscall.SIGCONT)
}

func TestSlotsOfAnotherTypeAreNoLock(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	for _, s := range all[:2] {
		locktest.Do(t, s, "SET", jobKey+":slots", "x")
	}
	_, err := store.Acquire(t.Context(), forSlot(tick))
	var wrong *lock.NotLockError
	if !errors.As(err, &wrong) || wrong.Key != jobKey+":slots" || wrong.What != "a string" {
		t.Errorf("got %v", err)
	}
	for i, s := range all {
		locktest.Until(t, fmt.Sprint("server ", i, " has no lock"),
			func() bool { return locktest.Do(t, s, "EXISTS", jobKey) == int64(0) })
	}
	runs(t, store, locktest.RequestFor("job"), endedBy(lock.EndOk, 0)) // it has no slot
}

func TestSlotsThatMayNotBeWrittenRefuseTheRun(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"hget", "hlen", "hset"} {
		var all servers
		var urls []string
		for range 3 {
			s := redistest.Start(t, redistest.Options{Users: []string{"job on >pw resetchannels ~* +@all -" + right}})
			all, urls = append(all, s), append(urls, strings.Replace(s.URL(), "redis://", "redis://job:pw@", 1))
		}
		store := openAll(t, lock.Servers{URLs: urls, Prefix: lock.DefaultPrefix, Durable: true})
		req := forSlot(tick)
		req.History = 0
		_, err := store.Acquire(t.Context(), req)
		var down *lock.UnavailableError
		if !errors.As(err, &down) || !down.Denied || !strings.Contains(strings.ToLower(err.Error()), right) {
			t.Errorf("without %s: %v", right, err)
		}
		all.mustKeepOnly(t)
		req = locktest.RequestFor("job")
		req.History = 50
		runs(t, store, req, endedBy(lock.EndOk, 0))
	}
}
