package line_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

func TestLostAcquireRepliesAreNotContention(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	for range 3 {
		p.LoseReply(anAcquire)
	}
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	if n := p.Count(anAcquire); n != 4 {
		t.Errorf("asked %d times", n)
	}
	counter, record := locktest.Do(t, srv, "GET", jobKey+":fence"), locktest.Do(t, srv, "GET", jobKey).(string)
	if counter == "" || l.Fence() == 0 || locktest.HolderOf(record).Run == "" {
		t.Errorf("counter %v, fence %d", counter, l.Fence())
	}
	locktest.Renew(t, l)
	release(t, l)
	free(t, srv)
}

func TestALostReleaseReplyIsARelease(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	for _, keep := range []time.Duration{0, time.Hour} {
		l := locktest.Acquire(t, s, locktest.RequestFor("job"))
		p.LoseReply("redlockrun:{")
		if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: keep}); err != nil {
			t.Errorf("keep %s: %v", keep, err)
		}
	}
	l := locktest.Acquire(t, s, locktest.RequestFor("other"))
	p.LoseReply("redlockrun:{")
	p.LoseReply("redlockrun:{")
	locktest.MustBeUnavailable(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	if v := locktest.Do(t, srv, "GET", "redlockrun:{other}"); v != nil {
		t.Errorf("the lock is still %v", v)
	}
}

func TestALostRenewReplyIsNotALoss(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	p.LoseReply("redlockrun:{")
	_, err := l.Renew(locktest.Limited(t, locktest.Patience))
	locktest.MustBeUnavailable(t, err)
	if n := p.Count("redlockrun:{job}"); n != 2 {
		t.Errorf("one try was %d requests", n-1)
	}
	renewOnce(t, l)
	release(t, l)
	onlyFence(t, srv)
}

func TestALateAcquireLeavesNoLock(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	arrive := p.Hold(anAcquire)
	_, err := s.Acquire(t.Context(), impatient("job"))
	locktest.MustBeUnavailable(t, err)
	arrive()
	awaitClosed(t, p)
	nothingLeft(t, srv)
}

func TestALateAcquireAfterTheRunLeavesNoLock(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	arrive := p.HoldNext(anAcquire)
	req := within(4 * time.Second)
	l := locktest.Acquire(t, s, req)
	release(t, l)
	arrive()
	awaitClosed(t, p)
	nothingLeft(t, srv)
}

func TestATombstoneAloneStopsALateAcquire(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	k := wire.KeysOf(lock.DefaultPrefix, "job", lock.NewRunID())
	run := strings.TrimPrefix(k.Tombstone, k.Lock+":gone:")
	eval := func(script string, args ...any) any {
		words := []any{"EVAL", script, len(k.All())}
		for _, key := range k.All() {
			words = append(words, key)
		}
		return locktest.Do(t, srv, append(append(words, run, 0, "h u 1 c -", 0, "", "job", "jobs"), args...)...)
	}
	eval(line.Present("release"), 0, wire.Tombstone.Milliseconds(), 0, "", 0, 0, "0 0 0 0", 0)
	record := wire.RecordOf(lock.Holder{Run: run}).String()
	if got := eval(line.Present("acquire"), record, 60_000, "once", 0, 0, 0).([]any); got[0] != int64(4) {
		t.Errorf("a late acquire got %v", got)
	}
	free(t, srv)
	if left := locktest.Do(t, srv, "PTTL", k.Tombstone).(int64); left <= 0 || left > wire.Tombstone.Milliseconds() {
		t.Errorf("the tombstone stays %d ms", left)
	}
}

func TestAcquireGivesUpAHangingServerWithoutResidue(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	locktest.Must(t, srv.Signal(syscall.SIGSTOP))
	_, err := s.Acquire(t.Context(), impatient("job")) // hangs in the handshake
	if e := locktest.MustBeUnavailable(t, err); e.Err.Error() != "no answer in time" {
		t.Error(e)
	}
	locktest.Must(t, srv.Signal(syscall.SIGCONT))
	nothingLeft(t, srv)
}

// The server stops after the handshake, so that the acquire waits in its socket.
func TestAnAcquireOnAHangingServerLeavesNoLock(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	done, _, arrive := acquiring(t, p, s, within(2*time.Second))
	locktest.Must(t, srv.Signal(syscall.SIGSTOP))
	arrive()
	locktest.MustBeUnavailable(t, got(t, done).err)
	locktest.Must(t, srv.Signal(syscall.SIGCONT))
	nothingLeft(t, srv)
}

func TestASignalEndsARequestToAHangingServer(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	done, stop, arrive := acquiring(t, p, s, within(time.Hour))
	signal := errors.New("signal")
	stop(signal)
	if err := got(t, done).err; err != signal {
		t.Error(err)
	}
	arrive()
	awaitClosed(t, p)
	nothingLeft(t, srv)
}

func TestRenewAndReleaseEndInTimeOnAHangingServer(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	for _, renewal := range []bool{true, false} {
		l := locktest.Acquire(t, s, locktest.RequestFor("job"))
		locktest.Must(t, srv.Signal(syscall.SIGSTOP))
		var err error
		if renewal {
			_, err = l.Renew(locktest.Limited(t, 100*time.Millisecond))
		} else {
			err = l.Release(locktest.Limited(t, 4*time.Second), lock.ReleaseRequest{})
		}
		locktest.MustBeUnavailable(t, err)
		locktest.Must(t, srv.Signal(syscall.SIGCONT))
		if renewal {
			locktest.Renew(t, l)
			release(t, l)
		}
		nothingLeft(t, srv) // the release that nobody waited for was done all the same
	}
}

// Whatever the way to the server and back took is no part of the lease.
func TestALeaseCountsFromBeforeTheRequest(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	req := locktest.RequestFor("job")
	req.Times.Try = locktest.Patience
	most := req.Times.TTL - req.Times.Drift
	done, _, arrive := acquiring(t, p, s, req)
	sent := boottime.Now()
	arrive()
	l := lease(t, done)
	if lasts := l.Until().Sub(sent); lasts > most {
		t.Errorf("the lease lasts %s from after the request, not %s", lasts, most)
	}
	requests := p.Count(jobKey)
	arrive = p.Hold(jobKey)
	var wg sync.WaitGroup
	wg.Go(func() { l.Renew(context.Background()) })
	await(t, p, jobKey, requests+1)
	sent = boottime.Now()
	arrive()
	wg.Wait()
	if lasts := l.Until().Sub(sent); lasts > most {
		t.Errorf("the renewed lease lasts %s from after the request, not %s", lasts, most)
	}
	release(t, l)
}

func TestABlackHoleCostsTriesButNotTheLock(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	p.BlackHole(true)
	for range 2 {
		_, err := l.Renew(locktest.Limited(t, 100*time.Millisecond))
		locktest.MustBeUnavailable(t, err)
	}
	before := p.Accepted()
	p.BlackHole(false)
	renewOnce(t, l)
	if p.Accepted() == before {
		t.Error("the renewal went over a connection that had failed")
	}
	release(t, l)
}

func TestRefusedAndResetConnectionsAreTriedAgain(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	p.Refuse(true)
	req := within(locktest.Patience)
	done, _ := begin(t, s, req)
	locktest.Until(t, "some tries", func() bool { return p.Accepted() > 2 })
	p.Refuse(false)
	l := lease(t, done)
	p.Reset()
	locktest.Renew(t, l)
	p.Reset()
	release(t, l)
}

func TestDownServerIsUnavailableAndNamesTheCause(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	srv.Kill()
	_, err := open(t, srv.URL()).Acquire(t.Context(), impatient("job"))
	e := locktest.MustBeUnavailable(t, err)
	if e.Denied || e.Address != srv.Addr() || e.Error() != "ask "+srv.Addr()+": connect: connection refused" {
		t.Error(e)
	}
}

func TestForgottenScriptsAreLoadedAgain(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	l := locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("job"))
	locktest.Do(t, srv, "SCRIPT", "FLUSH")
	renewOnce(t, l)
	locktest.Do(t, srv, "SCRIPT", "FLUSH")
	release(t, l)
}

func TestARestartKeepsTheLockOnlyIfTheServerKeepsItsData(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		srv := redistest.Start(t, redistest.Options{Persist: true})
		l := locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("job"))
		locktest.Must(t, srv.Restart(keep))
		err := keepsRenewing(t, l)
		if keep && err != nil || !keep && (!errors.Is(err, lock.ErrLost) || errors.Is(err, lock.ErrTaken)) {
			t.Errorf("data kept %v: %v", keep, err)
		}
		err = l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
		if keep && err != nil || !keep && !errors.Is(err, lock.ErrLost) {
			t.Errorf("data kept %v: released: %v", keep, err)
		}
	}
}

// An answer that always takes longer than a renewal may: the lease is of no use.
func TestLeaseThatCouldNotBeRenewedIsNotAccepted(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	req := impatient("job")
	req.Times.Try = 1
	_, err := open(t, srv.URL()).Acquire(t.Context(), req)
	locktest.MustBeUnavailable(t, err)
	free(t, srv)
}

// 75 when the last answer was busy, 69 when the last try had none.
func TestTheLastTryDecides(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	req := within(2 * time.Second)
	req.Wait = lock.Wait{Retries: 2, Delay: time.Millisecond}
	var busy, outages int
	req.OnBusy = func(*lock.HeldError) { busy++; p.Refuse(busy == 1); p.Reset() }
	req.OnOutage = func(error) { outages++; p.Refuse(false) }
	if _, err := s.Acquire(t.Context(), req); !errors.As(err, new(*lock.HeldError)) || busy != 1 || outages != 1 {
		t.Errorf("busy, outage, busy: %v after %d and %d", err, busy, outages)
	}
	req.Holder.Run = lock.NewRunID()
	req.OnBusy = func(*lock.HeldError) {
		if busy++; busy == 3 {
			p.Refuse(true)
			p.Reset()
		}
	}
	_, err := s.Acquire(t.Context(), req)
	locktest.MustBeUnavailable(t, err)
	p.Refuse(false)
	release(t, l)
}

func TestRetriesAreCountedAndEndBySignal(t *testing.T) {
	t.Parallel()
	_, p, s := proxied(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	before := p.Count(anAcquire)
	req := locktest.RequestFor("job")
	req.Wait = lock.Wait{Retries: 3, Delay: time.Millisecond}
	if _, err := s.Acquire(t.Context(), req); !errors.As(err, new(*lock.HeldError)) || p.Count(anAcquire)-before != 4 {
		t.Errorf("%d tries: %v", p.Count(anAcquire)-before, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	signal := errors.New("signal")
	req = locktest.RequestFor("job")
	req.Wait = lock.Wait{Retries: 1000, Delay: time.Hour}
	req.OnBusy = func(*lock.HeldError) { cancel(signal) }
	if _, err := s.Acquire(ctx, req); err != signal {
		t.Error(err)
	}
	req = locktest.RequestFor("job")
	req.Wait = lock.Wait{Retries: 1}
	req.Enclosing = []string{locktest.MustBeBusy(t, s, "job").Holder.Run}
	if _, err := s.Acquire(t.Context(), req); !errors.As(err, new(*lock.NestedError)) {
		t.Error(err)
	}
	req.Wait = lock.Wait{}
	if _, err := s.Acquire(t.Context(), req); !errors.As(err, new(*lock.HeldError)) {
		t.Error(err)
	}
	release(t, l)
}
